// Unary element-wise operators.
#include <fmt/core.h>

#include <limits>

#include "engine/onnx/lowering.h"

namespace recut::onnx {
namespace {

template <Op op>
Lowered unary(Lowering& node) {
  return Lowering::one(node, node.make(op, {node.in(0)}));
}

Lowered same(Lowering& node) { return {node.any_value(0)}; }

// The identity in inference; the mask, if requested, is all true.
Lowered dropout(Lowering& node) {
  if (node.has(2)) {
    const auto training = node.integers(2, "training mode");
    if (training.size() != 1 || training[0] != 0) node.refuse("it is in training mode");
  }
  Lowered outputs{node.value(0)};
  if (node.outputs() > 1)
    outputs.push_back(Lowering::one(
        node, node.make(Op::full, {Argument(node.type(0).shape), true, DType::boolean}))[0]);
  return outputs;
}

// Before opset 12 there is no training mode, and the mask is all false, of the data's dtype first.
template <bool typed>
Lowered older_dropout(Lowering& node) {
  Lowered outputs{node.value(0)};
  if (node.outputs() > 1)
    outputs.push_back(
        Lowering::one(node, node.make(Op::full, {Argument(node.type(0).shape), 0,
                                                 typed ? node.type(0).dtype : DType::boolean}))[0]);
  return outputs;
}

// A bound that only a run shows is one number in a tensor of its own.
NodeId bound_in_tensor(Lowering& node, std::size_t input) {
  if (element_count(node.type(input).shape) != 1 || node.type(input).dtype != node.type(0).dtype)
    node.refuse(fmt::format("a bound of {}, expected one number of {}", format(node.type(input)),
                            short_name(node.type(0).dtype)));
  return node.reshape(node.in(input), {});
}

Lowered clip_between_tensors(Lowering& node) {
  NodeId id = node.in(0);
  if (node.has(1)) id = node.make(Op::maximum, {id, bound_in_tensor(node, 1)});
  if (node.has(2)) id = node.make(Op::minimum, {id, bound_in_tensor(node, 2)});
  return Lowering::one(node, id);
}

// Where the lower bound is above the upper one, all elements are the upper one.
Lowered clip(Lowering& node) {
  for (const std::size_t input : {1, 2})
    if (node.has(input) && !node.value(input).known) return clip_between_tensors(node);
  const auto bound = [&](std::size_t input, std::string_view what) -> Argument {
    if (!node.has(input)) return None{};
    if (is_floating(node.type(0).dtype)) return node.real(input, what);
    return node.whole(input, what);
  };
  const Argument low = bound(1, "lower bound"), high = bound(2, "upper bound");
  if (low.none() && high.none()) return {node.value(0)};
  return Lowering::one(node, node.make(Op::clamp, {node.in(0), low, high}));
}

Lowered softsign(Lowering& node) {
  const NodeId x = node.in(0);
  const NodeId below = node.make(Op::add_Tensor, {node.make(Op::abs, {x}), 1});
  return Lowering::one(node, node.make(Op::div_Tensor, {x, below}));
}

Lowered softplus(Lowering& node) {
  return Lowering::one(node, node.make(Op::softplus, {node.in(0)}));
}

Lowered hard_sigmoid(Lowering& node) {
  const double alpha = node.real("alpha", 0.2F), beta = node.real("beta", 0.5);
  const NodeId scaled = node.make(Op::mul_Tensor, {node.in(0), alpha});
  const NodeId moved = node.make(Op::add_Tensor, {scaled, beta});
  return Lowering::one(node, node.make(Op::clamp, {moved, 0, 1}));
}

Lowered elu(Lowering& node) {
  return Lowering::one(node, node.make(Op::elu, {node.in(0), node.real("alpha", 1)}));
}

Lowered selu(Lowering& node) {
  const double alpha = node.real("alpha", 1.67326319217681884765625);
  const double gamma = node.real("gamma", 1.05070102214813232421875);
  return Lowering::one(node, node.make(Op::elu, {node.in(0), alpha, gamma}));
}

Lowered celu(Lowering& node) {
  return Lowering::one(node, node.make(Op::celu, {node.in(0), node.real("alpha", 1)}));
}

Lowered leaky_relu(Lowering& node) {
  return Lowering::one(node, node.make(Op::leaky_relu, {node.in(0), node.real("alpha", 0.01F)}));
}

NodeId zero_like(Lowering& node, NodeId id) {
  return node.make(Op::full, {Argument(Shape{}), 0.0, node.type(id).dtype});
}

Lowered prelu(Lowering& node) {
  const NodeId x = node.in(0);
  const NodeId positive = node.make(Op::gt_Scalar, {x, 0});
  const NodeId scaled = node.make(Op::mul_Tensor, {x, node.in(1)});
  return Lowering::one(node, node.make(Op::where_self, {positive, x, scaled}));
}

Lowered thresholded_relu(Lowering& node) {
  const NodeId x = node.in(0);
  const NodeId above = node.make(Op::gt_Scalar, {x, node.real("alpha", 1)});
  return Lowering::one(node, node.make(Op::where_self, {above, x, zero_like(node, x)}));
}

// Of both signs, or of one.
Lowered is_infinite(Lowering& node) {
  const bool positive = node.integer("detect_positive", 1) != 0;
  const bool negative = node.integer("detect_negative", 1) != 0;
  if (positive && negative) return unary<Op::isinf>(node);
  if (!positive && !negative)
    return Lowering::one(
        node, node.make(Op::full, {Argument(node.type(0).shape), false, DType::boolean}));
  const double limit = std::numeric_limits<double>::infinity();
  return Lowering::one(node, node.make(Op::eq_Scalar, {node.in(0), positive ? limit : -limit}));
}

// Towards 0 by the bias, and 0 within lambd of it.
Lowered shrink(Lowering& node) {
  const double lambda = node.real("lambd", 0.5), bias = node.real("bias", 0);
  const NodeId x = node.in(0);
  const NodeId below = node.make(Op::lt_Scalar, {x, -lambda});
  const NodeId above = node.make(Op::gt_Scalar, {x, lambda});
  const NodeId lowered = node.make(Op::sub_Tensor, {x, bias});
  const NodeId raised = node.make(Op::add_Tensor, {x, bias});
  const NodeId rest = node.make(Op::where_self, {above, lowered, zero_like(node, x)});
  return Lowering::one(node, node.make(Op::where_self, {below, raised, rest}));
}

Lowered gelu(Lowering& node) {
  return Lowering::one(node, node.make(Op::gelu, {node.in(0), node.text("approximate", "none")}));
}

}  // namespace

std::vector<OperatorLowering> activation_lowerings() {
  return {
      {"Identity", same},
      {"Dropout", dropout},
      {"Dropout", older_dropout<false>, 12},
      {"Dropout", older_dropout<true>, 10},
      {"Relu", unary<Op::relu>},
      {"Sigmoid", unary<Op::sigmoid>},
      {"Tanh", unary<Op::tanh>},
      {"Erf", unary<Op::erf>},
      {"Exp", unary<Op::exp>},
      {"Log", unary<Op::log>},
      {"Sqrt", unary<Op::sqrt>},
      {"Reciprocal", unary<Op::reciprocal>},
      {"Abs", unary<Op::abs>},
      {"Neg", unary<Op::neg>},
      {"Sign", unary<Op::sign>},
      {"Floor", unary<Op::floor>},
      {"Ceil", unary<Op::ceil>},
      {"Round", unary<Op::round>},
      {"Sin", unary<Op::sin>},
      {"Cos", unary<Op::cos>},
      {"Tan", unary<Op::tan>},
      {"Asin", unary<Op::asin>},
      {"Acos", unary<Op::acos>},
      {"Atan", unary<Op::atan>},
      {"Sinh", unary<Op::sinh>},
      {"Cosh", unary<Op::cosh>},
      {"Asinh", unary<Op::asinh>},
      {"Acosh", unary<Op::acosh>},
      {"Atanh", unary<Op::atanh>},
      {"Not", unary<Op::logical_not>},
      {"IsNaN", unary<Op::isnan>},
      {"HardSwish", unary<Op::hardswish>},
      {"Mish", unary<Op::mish>},
      {"Clip", clip},
      {"Softsign", softsign},
      {"Softplus", softplus},
      {"HardSigmoid", hard_sigmoid},
      {"Elu", elu},
      {"Selu", selu},
      {"Celu", celu},
      {"LeakyRelu", leaky_relu},
      {"PRelu", prelu},
      {"ThresholdedRelu", thresholded_relu},
      {"Gelu", gelu},
      {"IsInf", is_infinite},
      {"Shrink", shrink},
  };
}

}  // namespace recut::onnx
