// Binary and variadic element-wise operators, and casts.
#include <fmt/core.h>

#include "engine/onnx/lowering.h"

namespace recut::onnx {
namespace {

std::vector<Argument> operands(Lowering& node, bool commutative) {
  if (const auto right = node.number(1, node.rank(0))) return {node.in(0), *right};
  if (commutative)
    if (const auto left = node.number(0, node.rank(1))) return {node.in(1), *left};
  return {node.in(0), node.in(1)};
}

// ONNX requires equal dtypes; PyTorch's operators would promote silently.
void check_dtypes(const Lowering& node, std::size_t first = 0) {
  for (std::size_t i = first + 1; i < node.inputs(); ++i)
    if (node.has(i) && node.type(i).dtype != node.type(first).dtype)
      node.refuse(fmt::format("operands of {} and {}, expected equal dtypes",
                              short_name(node.type(first).dtype), short_name(node.type(i).dtype)));
}

template <Op op, bool commutative>
Lowered binary(Lowering& node) {
  check_dtypes(node);
  return Lowering::one(node, node.make(op, operands(node, commutative)));
}

// An operator with a separate Scalar overload for a number on the right.
template <Op tensor, Op scalar>
Lowered comparison(Lowering& node) {
  check_dtypes(node);
  const auto number = node.number(1, node.rank(0));
  return Lowering::one(node, number ? node.make(scalar, {node.in(0), *number})
                                    : node.make(tensor, {node.in(0), node.in(1)}));
}

// Integer division truncates towards zero.
Lowered divide(Lowering& node) {
  check_dtypes(node);
  std::vector<Argument> arguments = operands(node, false);
  if (is_floating(node.type(0).dtype))
    return Lowering::one(node, node.make(Op::div_Tensor, std::move(arguments)));
  arguments.emplace_back("trunc");
  return Lowering::one(node, node.make(Op::div_Tensor_mode, std::move(arguments)));
}

// The exponent's dtype is its own; the result has the base's.
Lowered power(Lowering& node) {
  const DType dtype = node.type(0).dtype;
  if (const auto exponent = node.number(1, node.rank(0))) {
    const NodeId id = node.make(Op::pow_Tensor_Scalar, {node.in(0), *exponent});
    return Lowering::one(node, node.convert(id, dtype));
  }
  const NodeId id = node.make(Op::pow_Tensor_Tensor, {node.in(0), node.in(1)});
  return Lowering::one(node, node.convert(id, dtype));
}

Lowered modulo(Lowering& node) {
  return node.integer("fmod", 0) != 0
             ? comparison<Op::fmod_Tensor, Op::fmod_Scalar>(node)
             : comparison<Op::remainder_Tensor, Op::remainder_Scalar>(node);
}

template <Op op>
NodeId folded(Lowering& node) {
  check_dtypes(node);
  NodeId sum = node.in(0);
  for (std::size_t i = 1; i < node.inputs(); ++i) sum = node.make(op, {sum, node.in(i)});
  return sum;
}

template <Op op>
Lowered variadic(Lowering& node) {
  return Lowering::one(node, folded<op>(node));
}

Lowered mean_of(Lowering& node) {
  const NodeId sum = folded<Op::add_Tensor>(node);
  return Lowering::one(node,
                       node.make(Op::div_Tensor, {sum, static_cast<std::int64_t>(node.inputs())}));
}

Lowered where(Lowering& node) {
  check_dtypes(node, 1);
  return Lowering::one(node, node.make(Op::where_self, {node.in(0), node.in(1), node.in(2)}));
}

Lowered cast(Lowering& node) {
  const DType to = dtype_of(static_cast<std::int32_t>(node.integer("to", 0)), "the result");
  if (node.type(0).dtype == to) return {node.value(0)};
  return Lowering::one(node, node.convert(node.in(0), to));
}

Lowered cast_like(Lowering& node) {
  return Lowering::one(node, node.convert(node.in(0), node.type(1).dtype));
}

}  // namespace

std::vector<OperatorLowering> arithmetic_lowerings() {
  return {
      {"Add", binary<Op::add_Tensor, true>},
      {"Sub", binary<Op::sub_Tensor, false>},
      {"Mul", binary<Op::mul_Tensor, true>},
      {"Div", divide},
      {"Pow", power},
      {"Mod", modulo},
      {"Equal", comparison<Op::eq_Tensor, Op::eq_Scalar>},
      {"Less", comparison<Op::lt_Tensor, Op::lt_Scalar>},
      {"LessOrEqual", comparison<Op::le_Tensor, Op::le_Scalar>},
      {"Greater", comparison<Op::gt_Tensor, Op::gt_Scalar>},
      {"GreaterOrEqual", comparison<Op::ge_Tensor, Op::ge_Scalar>},
      {"And", variadic<Op::logical_and>},
      {"Or", variadic<Op::logical_or>},
      {"Xor", variadic<Op::logical_xor>},
      {"Max", variadic<Op::maximum>},
      {"Min", variadic<Op::minimum>},
      {"Sum", variadic<Op::add_Tensor>},
      {"Mean", mean_of},
      {"Where", where},
      {"Cast", cast},
      {"CastLike", cast_like},
  };
}

}  // namespace recut::onnx
