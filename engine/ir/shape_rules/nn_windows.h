// Sliding windows of convolutions and poolings. Private to the shape rules.
#pragma once

#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {

// No attribute and no spatial dimension may be larger: sums of two products of them fit 64 bits.
inline constexpr std::int64_t kMaxExtent = std::int64_t{1} << 30;

// An int[dims] argument with one number a spatial dimension; a list of one counts for all. Every
// number has to be in [min_value, kMaxExtent].
Result<std::vector<std::int64_t>> window_list(const Call& call, std::string_view parameter,
                                              std::size_t dims, std::int64_t min_value);

// Windows over `dims` spatial dimensions.
struct Windows {
  std::vector<std::int64_t> kernel, stride, padding, dilation;
};

// Reads kernel_size, stride (empty: the kernel's size), padding and, if the schema has it,
// dilation.
Result<Windows> pooling_windows(const Call& call, std::size_t dims);

// Number of windows along one dimension of `size` elements; not positive if none fits.
std::int64_t windows_along(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                           std::int64_t padding, std::int64_t dilation, bool ceil_mode);

// Fails unless `type` has `dims` spatial dimensions after [C] or [N, C], none of them empty or
// beyond kMaxExtent.
Result<Done> check_spatial(const TensorType& type, std::size_t dims);

// The shape of the dimensions of `type` before its spatial ones, then `spatial`.
Shape with_spatial(const TensorType& type, const std::vector<std::int64_t>& spatial);

}  // namespace recut::rules
