// Sliding windows over up to three spatial dimensions, for pooling.
#pragma once

#include <array>
#include <cstdint>

#include "engine/eval/tensor.h"
#include "engine/ir/call.h"

namespace recut {

using Triple = std::array<std::int64_t, 3>;

// The last `dims` numbers of a shape, or an attribute of one number a dimension (or one for all),
// filled up in front with `filler`.
Triple spatial_triple(const Shape& shape, std::size_t dims);
Triple attribute_triple(const Call& call, std::string_view parameter, std::size_t dims,
                        std::int64_t filler);

inline std::int64_t volume(const Triple& t) { return t[0] * t[1] * t[2]; }

// The coordinates of a flat index, and back.
inline Triple unflatten(std::int64_t i, const Triple& size) {
  return {i / (size[1] * size[2]), i / size[2] % size[1], i % size[2]};
}
inline std::int64_t flatten(const Triple& at, const Triple& size) {
  return (at[0] * size[1] + at[1]) * size[2] + at[2];
}

// The window of a pooling.
struct Windows {
  Triple kernel{1, 1, 1}, stride{1, 1, 1}, padding{0, 0, 0}, dilation{1, 1, 1};
};

// kernel_size, stride (the kernel's where it is empty), padding and dilation, as far as the schema
// has them.
Windows windows_of(const Call& call, std::size_t dims);

// The number of spatial dimensions, from the operator's name ("…pool2d…") or its kernel_size.
std::size_t spatial_dims_of(const Call& call);

// Calls visit(offset in the window, flat index in the plane) for every element of the window at
// `at` that isn't padding. Windows are cut to the plane first: padding costs no time.
template <class Visit>
void for_each_in_window(const Windows& w, const Triple& at, const Triple& plane, Visit&& visit) {
  Triple first, last, corner;
  for (std::size_t d = 0; d < 3; ++d) {
    corner[d] = at[d] * w.stride[d] - w.padding[d];
    const std::int64_t step = w.dilation[d];
    first[d] = corner[d] < 0 ? (-corner[d] + step - 1) / step : 0;
    const std::int64_t available = plane[d] - corner[d];
    const std::int64_t fit = available <= 0 ? 0 : (available + step - 1) / step;
    last[d] = fit < w.kernel[d] ? fit : w.kernel[d];
  }
  for (std::int64_t z = first[0]; z < last[0]; ++z)
    for (std::int64_t y = first[1]; y < last[1]; ++y)
      for (std::int64_t x = first[2]; x < last[2]; ++x)
        visit(flatten({z, y, x}, w.kernel),
              flatten({corner[0] + z * w.dilation[0], corner[1] + y * w.dilation[1],
                       corner[2] + x * w.dilation[2]},
                      plane));
}

}  // namespace recut
