// Rules that many families share.
#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {
namespace {

DType float_of(DType dtype) { return is_floating(dtype) ? dtype : DType::f32; }

Inferred broadcast_as(const Call& call, DType dtype) {
  auto shape = broadcast_all(call);
  if (!shape) return shape.diagnostics();
  return one(elementwise_type(call, dtype, std::move(*shape)));
}

// The type of the first parameter that was given a tensor.
const TensorType* first_tensor(const Call& call) {
  for (const Argument& a : call.arguments())
    if (const auto* id = a.get<NodeId>()) return &call.tensor(*id);
  return nullptr;
}

}  // namespace

Inferred recorded(const Call& call) {
  return error(fmt::format("the type of {} depends on values and has to be given", call.op().name));
}

Inferred same_type(const Call& call) {
  const TensorType* type = first_tensor(call);
  if (type == nullptr) return error("a tensor is expected");
  return one(*type);
}

Inferred same_type_dense(const Call& call) {
  const TensorType* type = first_tensor(call);
  if (type == nullptr) return error("a tensor is expected");
  return one(elementwise_type(call, type->dtype, type->shape));
}

Inferred promote_all(const Call& call) { return broadcast_as(call, result_dtype(call)); }

Inferred promote_to_float(const Call& call) {
  return broadcast_as(call, float_of(result_dtype(call)));
}

Inferred compare(const Call& call) { return broadcast_as(call, DType::boolean); }

Inferred where(const Call& call) {
  static constexpr std::string_view kBranches[] = {"self", "other"};
  return broadcast_as(call, result_dtype(call, kBranches));
}

Inferred getitem(const Call& call) {
  const auto types = call.types(call.node("self"));
  const std::int64_t index = call.integer("index");
  if (index < 0 || index >= static_cast<std::int64_t>(types.size()))
    return error(fmt::format("index {} of {} outputs", index, types.size()));
  return one(types[static_cast<std::size_t>(index)]);
}

}  // namespace recut::rules
