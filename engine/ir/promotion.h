// PyTorch's type promotion of a call's operands (ATen/native/TypeProperties.h): tensors with
// dimensions decide, then zero-dimensional ones, then numbers, each only where it is of a higher
// category (bool < int < float).
#pragma once

#include <span>
#include <string_view>

#include "engine/ir/call.h"

namespace recut {

// Of all tensors and numbers among the named parameters.
DType result_dtype(const Call& call, std::span<const std::string_view> parameters);

// Of all tensor and Scalar parameters, without `alpha`, `beta` and `value`.
DType result_dtype(const Call& call);

// Of the tensor parameters (and numbers given for them), whatever the Scalars are.
DType tensors_dtype(const Call& call);

// The dtype that element-wise functions of real numbers give: f32 where the operands are integers.
DType float_of(DType dtype);

}  // namespace recut
