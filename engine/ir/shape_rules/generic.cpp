// Rules that many families share, and the rules of element-wise operators.
#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {
namespace {

Inferred broadcast_as(const Call& call, DType dtype) {
  auto shape = broadcast_all(call);
  if (!shape) return shape.diagnostics();
  return one(elementwise_type(call, dtype, std::move(*shape)));
}

// The type of the first tensor argument.
const TensorType* first_tensor(const Call& call) {
  for (const Argument& a : call.arguments())
    if (const auto* id = a.get<NodeId>()) return &call.tensor(*id);
  return nullptr;
}

Inferred refuse(const Call& call, DType dtype) {
  return error(fmt::format("{} is not defined for {}", call.op().packet, short_name(dtype)));
}

// The outputs of operators with two outputs of one shape.
Inferred twice(const TensorType& type) { return Types{type, type}; }

}  // namespace

Inferred sized(DType dtype, Shape shape, std::string device) {
  TensorType type{dtype, std::move(shape), {}, std::move(device)};
  auto sound = check_size(type);
  if (!sound) return sound.diagnostics();
  type.strides = contiguous_strides(type.shape);
  return one(std::move(type));
}

TensorType in_memory_format(TensorType type, std::string_view format) {
  const bool channels_last = (format.ends_with("channels_last") && type.rank() == 4) ||
                             (format.ends_with("channels_last_3d") && type.rank() == 5);
  if (channels_last)
    type.strides = channels_last_strides(type.shape);
  else if (format.ends_with("contiguous_format") || !is_dense(type))
    type.strides = contiguous_strides(type.shape);
  return type;
}

// Rule of inputs and of data-dependent operators, whose types can't be inferred.
Inferred recorded(const Call& /*call*/) {
  return error("its type depends on values and has to be given");
}

// Shape, dtype and layout of the first tensor.
Inferred same_type(const Call& call) {
  const TensorType* type = first_tensor(call);
  if (type == nullptr) return error("a tensor is expected");
  return one(*type);
}

// Like the first tensor, but contiguous if its layout is not dense.
Inferred same_type_dense(const Call& call) {
  const TensorType* type = first_tensor(call);
  if (type == nullptr) return error("a tensor is expected");
  return one(elementwise_type(call, type->dtype, type->shape));
}

// same_type_dense; real for complex numbers.
Inferred magnitude(const Call& call) {
  const TensorType* type = first_tensor(call);
  if (type == nullptr) return error("a tensor is expected");
  return one(elementwise_type(call, real_of(type->dtype), type->shape));
}

// same_type_dense; bools are an error.
Inferred same_type_no_bool(const Call& call) {
  const TensorType* type = first_tensor(call);
  if (type != nullptr && type->dtype == DType::boolean) return refuse(call, type->dtype);
  return same_type_dense(call);
}

// same_type_dense; floats are an error.
Inferred same_type_integers(const Call& call) {
  const TensorType* type = first_tensor(call);
  if (type != nullptr && is_floating(type->dtype)) return refuse(call, type->dtype);
  return same_type_dense(call);
}

// Broadcast, promoted dtype.
Inferred promote_all(const Call& call) { return broadcast_as(call, result_dtype(call)); }

// Broadcast, promoted dtype of the tensors alone: Scalars don't count.
Inferred promote_tensors(const Call& call) { return broadcast_as(call, tensors_dtype(call)); }

// Promote_all; bools are refused.
Inferred promote_no_bool(const Call& call) {
  const DType dtype = result_dtype(call);
  return dtype == DType::boolean ? refuse(call, dtype) : broadcast_as(call, dtype);
}

// Promote_all; floats are refused.
Inferred promote_integers(const Call& call) {
  const DType dtype = result_dtype(call);
  return is_floating(dtype) ? refuse(call, dtype) : broadcast_as(call, dtype);
}

// Promote_all; integers become f32.
Inferred promote_to_float(const Call& call) {
  return broadcast_as(call, float_of(result_dtype(call)));
}

// Promote_to_float; real for complex numbers.
Inferred angle(const Call& call) {
  return broadcast_as(call, real_of(float_of(result_dtype(call))));
}

// Broadcast, f64 or c128.
Inferred promote_to_double(const Call& call) {
  return broadcast_as(call, is_complex(result_dtype(call)) ? DType::c128 : DType::f64);
}

// Broadcast, bool.
Inferred compare(const Call& call) { return broadcast_as(call, DType::boolean); }

// Broadcast of all three, dtype of the last two.
Inferred where(const Call& call) {
  static constexpr std::string_view kBranches[] = {"self", "other"};
  return broadcast_as(call, result_dtype(call, kBranches));
}

// Broadcast of all, dtype of self.
Inferred lerp(const Call& call) {
  static constexpr std::string_view kEnds[] = {"self", "end"};
  return broadcast_as(call, result_dtype(call, kEnds));
}

// Promote_all if rounded, else promote_to_float.
Inferred divide_rounded(const Call& call) {
  const std::string_view mode = call.text("rounding_mode");
  if (mode.empty()) return promote_to_float(call);
  if (mode != "trunc" && mode != "floor")
    return error(fmt::format("rounding_mode is '{}', expected None, 'trunc' or 'floor'", mode));
  return promote_all(call);
}

Inferred clone(const Call& call) {
  if (!call.is_tensor("self")) return error("a tensor is expected");
  return one(in_memory_format(call.tensor("self"), call.text("memory_format")));
}

Inferred copy(const Call& call) {
  if (!call.is_tensor("self")) return error("a tensor is expected");
  const TensorType& self = call.tensor("self");
  if (!call.is_tensor("src")) return one(self);
  const auto both = broadcast(self.shape, call.tensor("src").shape);
  if (!both) return both.diagnostics();
  if (*both != self.shape)
    return error(fmt::format("can't copy {} into {}", format_shape(call.tensor("src").shape),
                             format_shape(self.shape)));
  return one(self);
}

Inferred fill(const Call& call) {
  if (!call.is_tensor("self")) return error("a tensor is expected");
  if (call.is_tensor("value") && call.tensor("value").rank() != 0)
    return error(fmt::format("the value has shape {}, expected one number",
                             format_shape(call.tensor("value").shape)));
  const TensorType& self = call.tensor("self");
  return one(elementwise_type(call, self.dtype, self.shape));
}

Inferred to_copy(const Call& call) {
  if (!call.is_tensor("self")) return error("a tensor is expected");
  TensorType type = in_memory_format(call.tensor("self"), call.text("memory_format"));
  type.dtype = call.maybe_dtype("dtype").value_or(type.dtype);
  if (call.given("device")) type.device = std::string(call.text("device"));
  return one(std::move(type));
}

Inferred convert(const Call& call) {
  if (!call.is_tensor("a")) return error("a tensor is expected");
  const TensorType& a = call.tensor("a");
  return one(elementwise_type(call, call.maybe_dtype("dtype").value_or(a.dtype), a.shape));
}

Inferred to_dense(const Call& call) {
  const TensorType& self = call.tensor("self");
  return one(make_type(call.maybe_dtype("dtype").value_or(self.dtype), self.shape, self.device));
}

Inferred frexp(const Call& call) {
  Inferred type = same_type_dense(call);
  if (!type) return type;
  if (!is_floating(type->front().dtype)) return refuse(call, type->front().dtype);
  TensorType exponent = type->front();
  exponent.dtype = DType::i32;
  return Types{type->front(), std::move(exponent)};
}

Inferred device_put(const Call& call) {
  TensorType type = call.tensor("a");
  type.device = std::string(call.text("device"));
  return one(std::move(type));
}

Inferred prelu_backward(const Call& call) {
  const Inferred type = promote_tensors(call);
  return type ? twice(type->front()) : type;
}

Inferred rrelu(const Call& call) {
  const TensorType& self = call.tensor("self");
  if (call.tensor("noise").shape != self.shape)
    return error(fmt::format("noise of shape {} for {}", format_shape(call.tensor("noise").shape),
                             format_shape(self.shape)));
  TensorType type = elementwise_type(call, self.dtype, self.shape);
  return call.op().outputs == 1 ? one(std::move(type)) : twice(type);
}

Inferred log_sigmoid_forward(const Call& call) {
  const Inferred type = same_type_dense(call);
  return type ? twice(type->front()) : type;
}

// The buffer is used on CPUs only; it does not affect the shape.
Inferred log_sigmoid_backward(const Call& call) {
  for (const std::string_view parameter : {"grad_output", "self"})
    if (!call.is_tensor(parameter)) return error(fmt::format("{} is a number", parameter));
  auto shape = broadcast(call.tensor("grad_output").shape, call.tensor("self").shape);
  if (!shape) return shape.diagnostics();
  return one(elementwise_type(call, call.tensor("grad_output").dtype, std::move(*shape)));
}

Inferred native_dropout_backward(const Call& call) {
  if (!call.is_tensor("grad_output")) return error("grad_output is a number");
  return broadcast_as(call, call.tensor("grad_output").dtype);
}

Inferred getitem(const Call& call) {
  const auto types = call.types(call.node("self"));
  const std::int64_t index = call.integer("index");
  if (index < 0 || index >= static_cast<std::int64_t>(types.size()))
    return error(fmt::format("index {} of {} outputs", index, types.size()));
  return one(types[static_cast<std::size_t>(index)]);
}

}  // namespace recut::rules
