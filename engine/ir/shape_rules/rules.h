// The shape rules that rows of the operator table name, by family. A rule reads a checked call and
// gives the types of its outputs, or says what does not fit.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "engine/ir/call.h"

namespace recut::rules {

using Types = std::vector<TensorType>;
using Inferred = Result<Types>;

// One output.
inline Inferred one(TensorType type) { return Types{std::move(type)}; }

// promotion.cpp
// ------------------------------------------------------------------------------------------------------

// PyTorch's result dtype of all tensors and numbers among the named parameters: tensors with
// dimensions decide, then zero-dimensional ones, then numbers, each only where it is of a higher
// category (bool < int < float).
DType result_dtype(const Call& call, std::span<const std::string_view> parameters);

// The same over all tensor and Scalar parameters, without `alpha`, `beta` and `value`.
DType result_dtype(const Call& call);

// Shape of all tensor parameters broadcast together.
Result<Shape> broadcast_all(const Call& call);

// The layout of an element-wise result: that of the first operand of full shape that is dense, else
// contiguous.
TensorType elementwise_type(const Call& call, DType dtype, Shape shape);

// Device that a call's outputs are on: that of its tensors with dimensions, else of the first; ""
// without tensors.
std::string device_of(const Call& call);

// generic.cpp
// --------------------------------------------------------------------------------------------------------
Inferred recorded(
    const Call& call);  // nothing can be inferred: never asked for inputs; data-dependent rows
Inferred same_type(const Call& call);  // shape, dtype and layout of the first tensor
Inferred same_type_dense(
    const Call& call);  // the same, made contiguous where the operand's layout is not dense
Inferred promote_all(const Call& call);       // broadcast, promoted dtype
Inferred promote_to_float(const Call& call);  // the same; integers become f32
Inferred compare(const Call& call);           // broadcast, bool
Inferred where(const Call& call);             // broadcast of all three, dtype of the last two
Inferred getitem(const Call& call);

// creation.cpp, view.cpp, matrix.cpp, … : the rest, one file a family, declared here in the same
// order.
Inferred fill_size(const Call& call);
Inferred permute(const Call& call);
Inferred mm(const Call& call);

}  // namespace recut::rules
