// Channels last: [N, C, H, W] with the channels of one pixel side by side.
#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {

// The order of the conditions is ATen's: it decides the cases that strides leave ambiguous
// (dimensions of size 1).
bool is_channels_last(const TensorType& type) {
  const std::size_t rank = type.shape.size();
  if ((rank != 4 && rank != 5) || type.strides[1] == 0) return false;
  std::int64_t min_stride = 0;
  const auto step = [&](std::size_t d) {
    if (type.shape[d] == 0 || type.strides[d] < min_stride) return false;
    if (d == 0 && min_stride == type.strides[1]) return false;  // N111: contiguous by convention
    min_stride = type.strides[d];
    return type.shape[d] <= 1 || !__builtin_mul_overflow(min_stride, type.shape[d], &min_stride);
  };
  bool all = step(1);
  for (std::size_t d = rank; all && d-- > 2;) all = step(d);
  return all && step(0);
}

Strides channels_last_strides(const Shape& shape) {
  Strides strides(shape.size());
  std::uint64_t step = 1;  // unsigned: the size hasn't been checked yet
  const auto set_stride = [&](std::size_t d) {
    strides[d] = static_cast<std::int64_t>(step);
    if (shape[d] > 1) step *= static_cast<std::uint64_t>(shape[d]);
  };
  set_stride(1);
  for (std::size_t d = shape.size(); d-- > 2;) set_stride(d);
  set_stride(0);
  return strides;
}

TensorType laid_out_like(const TensorType& like, DType dtype, Shape shape) {
  TensorType out = make_type(dtype, std::move(shape), like.device);
  if (is_channels_last(like) && out.rank() == like.rank())
    out.strides = channels_last_strides(out.shape);
  return out;
}

}  // namespace recut::rules
