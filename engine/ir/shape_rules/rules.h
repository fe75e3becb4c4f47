// Shape rules (PyTorch's meta functions), referenced by the operator table. A rule infers the
// output types of a checked call, or reports the faulty argument:
//
//   Inferred mm(const Call& call) { … }
//
// Files hold a family each; the build declares their rules (declared.h, engine/CMakeLists.txt).
#pragma once

#include <fmt/core.h>

#include <string>
#include <vector>

#include "engine/ir/call.h"
#include "engine/ir/layout.h"
#include "engine/ir/promotion.h"

namespace recut::rules {

using Types = std::vector<TensorType>;
using Inferred = Result<Types>;

// One output.
inline Inferred one(TensorType type) { return Types{std::move(type)}; }

// True if the call's schema has such a parameter.
inline bool has(const Call& call, std::string_view parameter) {
  return call.op().parameter(parameter).has_value();
}

// Element-wise results (promotion.cpp)
// ------------------------------------------------------------------------------------------------

// Shape of all tensor parameters broadcast together.
Result<Shape> broadcast_all(const Call& call);

// The layout of an element-wise result: that of the first operand of full shape that is dense, else
// contiguous.
TensorType elementwise_type(const Call& call, DType dtype, Shape shape);

// Device of a call's outputs: that of its tensors with dimensions, else of the first; "" without
// tensors.
std::string device_of(const Call& call);

// A contiguous type of a shape that arguments give; fails if its size is invalid.
Inferred sized(DType dtype, Shape shape, std::string device);

// The type itself if it is dense, else a contiguous type of its shape.
inline TensorType dense_like(const TensorType& in) {
  return is_dense(in) ? in : make_type(in.dtype, in.shape, in.device);
}

// Memory formats (memory_format.cpp)
// ------------------------------------------------------------------------------------------------

// The type in another memory format ("channels_last", …); "" and preserve_format keep a dense
// layout.
TensorType in_memory_format(TensorType type, std::string_view format);

// True if PyTorch takes a type for channels last (ATen's is_channels_last_strides_2d and _3d).
bool is_channels_last(const TensorType& type);

// Strides of a dense channels-last value of 4 or 5 dimensions.
Strides channels_last_strides(const Shape& shape);

// A dense type of that shape: channels last if `like` is and has the same rank, else contiguous
// (ATen's suggest_memory_format).
TensorType laid_out_like(const TensorType& like, DType dtype, Shape shape);

// Rules by a layout rule (view.cpp, indexing_planes.cpp)
// ------------------------------------------------------------------------------------------------

// The result of a layout rule on the first operand: with the view's strides, or contiguous if the
// operator copies.
Inferred viewed_type(const Call& call, layout::Rule rule);
Inferred copied_type(const Call& call, layout::Rule rule);
template <layout::Rule rule>
Inferred view(const Call& call) {
  return viewed_type(call, rule);
}
template <layout::Rule rule>
Inferred view_copy(const Call& call) {
  return copied_type(call, rule);
}

// Self with a part replaced by src; the part is the view of the same parameters.
Inferred scattered_type(const Call& call, layout::Rule rule);
template <layout::Rule rule>
Inferred view_scatter(const Call& call) {
  return scattered_type(call, rule);
}

// Zeros of input_sizes with the gradient in a part of them.
Inferred part_backward_type(const Call& call, layout::Rule rule);
template <layout::Rule rule>
Inferred view_backward(const Call& call) {
  return part_backward_type(call, rule);
}

}  // namespace recut::rules

#include "engine/ir/shape_rules/declared.h"
