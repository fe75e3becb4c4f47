#include "engine/eval/kernels/windows.h"

#include <algorithm>

namespace recut {

Triple spatial_triple(const Shape& shape, std::size_t dims) {
  Triple t{1, 1, 1};
  std::copy(shape.end() - static_cast<std::ptrdiff_t>(dims), shape.end(),
            t.end() - static_cast<std::ptrdiff_t>(dims));
  return t;
}

Triple attribute_triple(const Call& call, std::string_view parameter, std::size_t dims,
                        std::int64_t filler) {
  Triple t{filler, filler, filler};
  const auto given = call.integers(parameter);
  for (std::size_t i = 0; i < dims; ++i) t[3 - dims + i] = given.size() == 1 ? given[0] : given[i];
  return t;
}

Windows windows_of(const Call& call, std::size_t dims) {
  Windows w;
  w.kernel = attribute_triple(call, "kernel_size", dims, 1);
  const bool strided = !call.integers("stride").empty();
  w.stride = strided ? attribute_triple(call, "stride", dims, 1) : w.kernel;
  w.padding = attribute_triple(call, "padding", dims, 0);
  if (call.op().parameter("dilation")) w.dilation = attribute_triple(call, "dilation", dims, 1);
  return w;
}

std::size_t spatial_dims_of(const Call& call) {
  const std::string_view name = call.op().packet;
  for (const std::size_t dims : {1, 2, 3}) {
    const char mark[] = {static_cast<char>('0' + dims), 'd', '\0'};
    if (name.find(mark) != std::string_view::npos) return dims;
  }
  return call.integers("kernel_size").size();
}

}  // namespace recut
