// Rules of views: the layout rules of engine/ir/layout.h applied to types.
#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {
namespace {

// The viewed operand is the first parameter of every schema.
const TensorType* viewed(const Call& call) {
  const auto* id = call.argument(std::size_t{0}).get<NodeId>();
  return id == nullptr ? nullptr : &call.tensor(*id);
}

Layout layout_of(const TensorType& type) { return Layout{type.shape, type.strides, 0, false}; }

Inferred type_of(const Call& call, layout::Rule rule, bool copied) {
  const TensorType* in = viewed(call);
  if (in == nullptr) return error("a tensor is expected");
  auto out = rule(call, layout_of(*in), 0);
  if (!out) return out.diagnostics();
  if (copied) return one(make_type(in->dtype, std::move(out->shape), in->device));
  return one(TensorType{in->dtype, std::move(out->shape), std::move(out->strides), in->device});
}

Inferred types_of(const Call& call, layout::Rule rule, layout::Count count_rule, bool copied) {
  const TensorType* in = viewed(call);
  if (in == nullptr) return error("a tensor is expected");
  const auto count = count_rule(call, in->shape);
  if (!count) return count.diagnostics();
  Types types;
  for (std::int64_t i = 0; i < *count; ++i) {
    auto out = rule(call, layout_of(*in), i);
    if (!out) return out.diagnostics();
    if (copied) out->strides = contiguous_strides(out->shape);
    types.push_back({in->dtype, std::move(out->shape), std::move(out->strides), in->device});
  }
  return types;
}

}  // namespace

Inferred viewed_type(const Call& call, layout::Rule rule) { return type_of(call, rule, false); }
Inferred copied_type(const Call& call, layout::Rule rule) { return type_of(call, rule, true); }

Inferred split(const Call& call) {
  return types_of(call, layout::split, layout::split_count, false);
}
Inferred split_with_sizes(const Call& call) {
  return types_of(call, layout::split_with_sizes, layout::split_with_sizes_count, false);
}
Inferred chunk(const Call& call) {
  return types_of(call, layout::chunk, layout::chunk_count, false);
}
Inferred unbind(const Call& call) {
  return types_of(call, layout::unbind, layout::unbind_count, false);
}
Inferred split_copy(const Call& call) {
  return types_of(call, layout::split, layout::split_count, true);
}
Inferred split_with_sizes_copy(const Call& call) {
  return types_of(call, layout::split_with_sizes, layout::split_with_sizes_count, true);
}
Inferred unbind_copy(const Call& call) {
  return types_of(call, layout::unbind, layout::unbind_count, true);
}

// Reinterprets the bytes as another dtype: the last dimension grows or shrinks by the ratio of the
// item sizes, and must be dense if these differ.
Inferred view_dtype(const Call& call) {
  TensorType type = call.tensor("self");
  const DType dtype = *call.maybe_dtype("dtype");
  const std::int64_t from = item_bytes(type.dtype);
  const std::int64_t to = item_bytes(dtype);
  type.dtype = dtype;
  if (from == to) return one(std::move(type));
  if (type.shape.empty())
    return error("a zero-dimensional tensor can't be viewed as a dtype of another size");
  if (type.strides.back() != 1)
    return error(fmt::format("the last dimension has stride {}, expected 1", type.strides.back()));
  const std::int64_t bytes = type.shape.back() * from;
  if (bytes % to != 0)
    return error(fmt::format("{} bytes in the last dimension are no multiple of {}", bytes, to));
  return one(make_type(
      dtype,
      [&] {
        Shape shape = type.shape;
        shape.back() = bytes / to;
        return shape;
      }(),
      type.device));
}

}  // namespace recut::rules
