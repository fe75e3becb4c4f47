// PyTorch's type promotion of a call's operands (ATen/native/TypeProperties.h): tensors with
// dimensions decide, then zero-dimensional ones, then numbers, each only where it is of a higher
// category (bool < int < float < complex).
#pragma once

#include <span>
#include <string_view>

#include "engine/ir/call.h"

namespace recut {

// The dtype of all tensors and numbers among the named parameters.
DType result_dtype(const Call& call, std::span<const std::string_view> parameters);

// The dtype of all tensor and Scalar parameters, except `alpha`, `beta` and `value`.
DType result_dtype(const Call& call);

// The dtype of the tensor parameters (and numbers given for them); Scalars don't count.
DType tensors_dtype(const Call& call);

// Result dtype of element-wise functions of real or complex numbers: f32 for integer operands.
DType float_of(DType dtype);

}  // namespace recut
