#include "engine/ir/shape_rules/nn_windows.h"

namespace recut::rules {

Result<std::vector<std::int64_t>> window_list(const Call& call, std::string_view parameter,
                                              std::size_t dims, std::int64_t min_value) {
  auto values = call.integers(parameter);
  if (values.size() == 1) values = std::vector<std::int64_t>(dims, values.front());
  if (values.size() != dims)
    return error(fmt::format("{} has {} numbers, expected {}", parameter, values.size(), dims));
  for (const std::int64_t v : values)
    if (v < min_value || v > kMaxExtent)
      return error(fmt::format("{} is {}, expected {} … {}", parameter, v, min_value, kMaxExtent));
  return values;
}

Result<Windows> pooling_windows(const Call& call, std::size_t dims) {
  Windows w;
  const auto take = [&](std::string_view parameter, std::int64_t min_value,
                        std::vector<std::int64_t>& to) -> Diagnostics {
    auto list = window_list(call, parameter, dims, min_value);
    if (!list) return list.diagnostics();
    to = std::move(*list);
    return {};
  };
  Diagnostics wrong = take("kernel_size", 1, w.kernel);
  w.stride = w.kernel;
  if (wrong.empty() && !call.integers("stride").empty()) wrong = take("stride", 1, w.stride);
  if (wrong.empty()) wrong = take("padding", 0, w.padding);
  w.dilation.assign(dims, 1);
  if (wrong.empty() && call.op().parameter("dilation")) wrong = take("dilation", 1, w.dilation);
  if (!wrong.empty()) return wrong;
  std::int64_t elements = 1;
  for (const std::int64_t k : w.kernel) {
    if (elements > kMaxExtent / k) return error("kernel_size makes too large a window");
    elements *= k;
  }
  for (std::size_t i = 0; i < dims; ++i)
    if (w.padding[i] > (w.dilation[i] * (w.kernel[i] - 1) + 1) / 2)
      return error(fmt::format("padding {} is more than half of the window", w.padding[i]));
  return w;
}

std::int64_t windows_along(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                           std::int64_t padding, std::int64_t dilation, bool ceil_mode) {
  const std::int64_t span = dilation * (kernel - 1) + 1;
  const std::int64_t room = size + 2 * padding - span;
  if (room < 0) return ceil_mode && room + stride - 1 >= 0 && size + padding > 0 ? 1 : 0;
  std::int64_t count = (room + (ceil_mode ? stride - 1 : 0)) / stride + 1;
  // The last window has to begin inside the input or its left padding.
  if (ceil_mode && (count - 1) * stride >= size + padding) --count;
  return count;
}

Result<Done> check_spatial(const TensorType& type, std::size_t dims) {
  const std::size_t rank = type.shape.size();
  if (rank != dims + 1 && rank != dims + 2)
    return error(fmt::format("{} has {} dimensions, expected {} or {}", format_shape(type.shape),
                             rank, dims + 1, dims + 2));
  for (std::size_t i = rank - dims; i < rank; ++i)
    if (type.shape[i] < 1 || type.shape[i] > kMaxExtent)
      return error(
          fmt::format("{} has a spatial dimension of {}", format_shape(type.shape), type.shape[i]));
  return Done{};
}

Shape with_spatial(const TensorType& type, const std::vector<std::int64_t>& spatial) {
  Shape shape(type.shape.begin(), type.shape.end() - static_cast<std::ptrdiff_t>(spatial.size()));
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  return shape;
}

}  // namespace recut::rules
