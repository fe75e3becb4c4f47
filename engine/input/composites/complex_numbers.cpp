// Calls with a complex number where their operator takes a real one. The number has become a tensor
// without dimensions, so another operator takes it, or a composite.
#include "engine/input/composite_operators.h"

namespace recut {
namespace {

// Operators with a number, and the ones with a tensor instead, by the same names of parameters.
struct TensorForm {
  std::string_view name, with_tensor;
};
constexpr TensorForm kTensorForms[] = {
    {"aten.div.Scalar", "aten.div.Tensor"},
    {"aten.eq.Scalar", "aten.eq.Tensor"},
    {"aten.fill.Scalar", "aten.fill.Tensor"},
    {"aten.float_power.Scalar", "aten.float_power.Tensor_Tensor"},
    {"aten.float_power.Tensor_Scalar", "aten.float_power.Tensor_Tensor"},
    {"aten.index_fill.int_Scalar", "aten.index_fill.int_Tensor"},
    {"aten.lerp.Scalar", "aten.lerp.Tensor"},
    {"aten.masked_fill.Scalar", "aten.masked_fill.Tensor"},
    {"aten.mul.Scalar", "aten.mul.Tensor"},
    {"aten.ne.Scalar", "aten.ne.Tensor"},
    {"aten.pow.Scalar", "aten.pow.Tensor_Tensor"},
    {"aten.pow.Tensor_Scalar", "aten.pow.Tensor_Tensor"},
    {"aten.where.Scalar", "aten.where.self"},
    {"aten.where.ScalarOther", "aten.where.self"},
    {"aten.where.ScalarSelf", "aten.where.self"},
};

// Of two factors, one may be a real number.
Value product(Builder& b, const Argument& x, const Argument& y) {
  const bool first = x.get<NodeId>() != nullptr;
  return b(Op::mul_Tensor, {first ? x : y, first ? y : x});
}

// The argument times a factor, if that is given.
Argument scaled(Builder& b, const Call& call, std::string_view parameter, std::string_view factor) {
  const Argument& x = call.argument(parameter);
  return call.given(factor) ? Argument(product(b, x, call.argument(factor)).id()) : x;
}

Expansion add(Builder& b, const Call& call) {
  return b(Op::add_Tensor, {call.argument("self"), scaled(b, call, "other", "alpha")});
}
Expansion subtract(Builder& b, const Call& call) {
  return b(Op::sub_Tensor, {call.argument("self"), scaled(b, call, "other", "alpha")});
}
Expansion subtract_from(Builder& b, const Call& call) {
  return b(Op::rsub_Tensor, {scaled(b, call, "self", "alpha"), call.argument("other")});
}
Expansion add_product(Builder& b, const Call& call) {
  const Argument factor = scaled(b, call, "tensor1", "value");
  return b(Op::add_Tensor, {call.argument("self"), product(b, factor, call.argument("tensor2"))});
}
Expansion add_quotient(Builder& b, const Call& call) {
  const Argument dividend = scaled(b, call, "tensor1", "value");
  return b(Op::add_Tensor,
           {call.argument("self"), b(Op::div_Tensor, {dividend, call.argument("tensor2")})});
}

// The number in the shape and the dtype of a new tensor.
Value filled(Builder& b, const Call& call, std::string_view number, const Shape& shape,
             DType dtype) {
  const Value x = b.convert(b.value(call.node(number)), call.maybe_dtype("dtype").value_or(dtype));
  return b(Op::clone, {b.expand(x, shape)}, {{"memory_format", std::string("contiguous_format")}});
}

Expansion full(Builder& b, const Call& call) {
  return filled(b, call, "fill_value", call.integers("size"), call.tensor("fill_value").dtype);
}
Expansion full_like(Builder& b, const Call& call) {
  return filled(b, call, "fill_value", call.tensor("self").shape, call.tensor("self").dtype);
}
Expansion new_full(Builder& b, const Call& call) {
  return filled(b, call, "fill_value", call.integers("size"), call.tensor("self").dtype);
}
Expansion scalar_tensor(Builder& b, const Call& call) {
  return b.convert(b.value(call.node("s")),
                   call.maybe_dtype("dtype").value_or(call.tensor("s").dtype));
}
Expansion scatter(Builder& b, const Call& call) {
  const Value value = b.convert(b.value(call.node("value")), call.tensor("self").dtype);
  return b(Op::scatter_src, {call.argument("self"), call.argument("dim"), call.argument("index"),
                             b.expand(value, call.tensor("index").shape)});
}

}  // namespace

std::string_view tensor_form(std::string_view target) {
  for (const TensorForm& form : kTensorForms)
    if (form.name == target) return form.with_tensor;
  return {};
}

std::vector<CompositeRow> complex_number_composites() {
  return {
      {"aten::add.Tensor(Tensor self, Tensor other, *, Tensor? alpha=None) -> Tensor", add},
      {"aten::add.Scalar(Tensor self, Tensor other, Tensor? alpha=None) -> Tensor", add},
      {"aten::sub.Tensor(Tensor self, Tensor other, *, Tensor? alpha=None) -> Tensor", subtract},
      {"aten::sub.Scalar(Tensor self, Tensor other, Tensor? alpha=None) -> Tensor", subtract},
      {"aten::rsub.Tensor(Tensor self, Tensor other, *, Tensor? alpha=None) -> Tensor",
       subtract_from},
      {"aten::rsub.Scalar(Tensor self, Tensor other, Tensor? alpha=None) -> Tensor", subtract_from},
      {"aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Tensor value) -> Tensor",
       add_product},
      {"aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Tensor value) -> Tensor",
       add_quotient},
      {"aten::full(int[] size, Tensor fill_value, *, ScalarType? dtype=None, Layout? layout=None, "
       "Device? device=None, bool? pin_memory=None) -> Tensor",
       full},
      {"aten::full_like(Tensor self, Tensor fill_value, *, ScalarType? dtype=None, Layout? "
       "layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? "
       "memory_format=None) -> Tensor",
       full_like},
      {"aten::new_full(Tensor self, int[] size, Tensor fill_value, *, ScalarType? dtype=None, "
       "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
       new_full},
      {"aten::scalar_tensor(Tensor s, *, ScalarType? dtype=None, Layout? layout=None, Device? "
       "device=None, bool? pin_memory=None) -> Tensor",
       scalar_tensor},
      {"aten::scatter.value(Tensor self, int dim, Tensor index, Tensor value) -> Tensor", scatter},
  };
}

}  // namespace recut
