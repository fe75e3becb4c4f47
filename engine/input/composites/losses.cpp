// Losses of torch.nn.functional that are several operators. Source: PyTorch's
// aten/src/ATen/native/Loss.cpp.
#include "engine/input/composite_operators.h"

namespace recut {
namespace {

Value tensor_named(Builder& b, const Call& call, std::string_view parameter) {
  return b.value(call.node(parameter));
}

// Of every element: none, the mean or the sum.
Expansion reduced(Builder& b, const Call& call, const Value& loss) {
  switch (call.integer("reduction")) {
    case 0:
      return loss;
    case 1:
      return b.mean(loss);
    case 2:
      return b.sum(loss);
    default:
      return Expansion::none();
  }
}

Value above_zero(Builder& b, const Value& x) { return b(Op::clamp_min, {x, 0.0}); }
Value is_equal(Builder& b, const Value& x, double number) { return b(Op::eq_Scalar, {x, number}); }
Value zero_where(Builder& b, const Value& condition, const Value& otherwise) {
  return b.where(condition, b.full({}, 0.0, otherwise.dtype(), otherwise.type().device), otherwise);
}

Expansion margin_ranking(Builder& b, const Call& call) {
  const Value difference = tensor_named(b, call, "input1") - tensor_named(b, call, "input2");
  const Value loss = -tensor_named(b, call, "target") * difference + call.real("margin");
  return reduced(b, call, above_zero(b, loss));
}

Expansion triplet_margin(Builder& b, const Call& call) {
  const Value anchor = tensor_named(b, call, "anchor"),
              positive = tensor_named(b, call, "positive"),
              negative = tensor_named(b, call, "negative");
  const auto distance = [&](const Value& x, const Value& y) {
    return b(Op::pairwise_distance, {x, y, call.real("p"), call.real("eps")});
  };
  Value other = distance(anchor, negative);
  if (call.boolean("swap")) other = b(Op::minimum, {other, distance(positive, negative)});
  const Value loss = distance(anchor, positive) + call.real("margin") - other;
  return reduced(b, call, above_zero(b, loss));
}

// Stirling's formula stands for the logarithm of the factorial of a target above 1.
Expansion poisson(Builder& b, const Call& call) {
  const Value x = tensor_named(b, call, "input"), target = tensor_named(b, call, "target");
  Value loss =
      call.boolean("log_input") ? b.exp(x) - target * x : x - target * b.log(x + call.real("eps"));
  if (call.boolean("full")) {
    constexpr double kTurn = 6.28318530717958647693;
    const Value stirling = target * b.log(target) - target + 0.5 * b.log(kTurn * target);
    loss = loss + zero_where(b, b(Op::le_Scalar, {target, 1.0}), stirling);
  }
  return reduced(b, call, loss);
}

Expansion cosine_embedding(Builder& b, const Call& call) {
  const Value x = tensor_named(b, call, "input1"), y = tensor_named(b, call, "input2"),
              target = tensor_named(b, call, "target");
  constexpr double kEpsilon = 1e-12;
  const std::vector<std::int64_t> dims{target.rank() == 1 ? 1 : 0};
  const auto square = [&](const Value& v) { return b.sum(v * v, dims) + kEpsilon; };
  const Value cosine = b.sum(x * y, dims) / b(Op::sqrt, {square(x) * square(y)});
  const Value alike = b(Op::ne_Scalar, {target, 1.0}), apart = b(Op::ne_Scalar, {target, -1.0});
  return reduced(b, call,
                 zero_where(b, alike, 1.0 - cosine) +
                     zero_where(b, apart, above_zero(b, cosine - call.real("margin"))));
}

Expansion hinge_embedding(Builder& b, const Call& call) {
  const Value x = tensor_named(b, call, "self"), target = tensor_named(b, call, "target");
  const Value below = above_zero(b, call.real("margin") - x);
  return reduced(
      b, call,
      zero_where(b, is_equal(b, target, 1), below) + zero_where(b, is_equal(b, target, -1), x));
}

Expansion multilabel_margin(Builder& b, const Call& call) {
  return b(Op::multilabel_margin_loss_forward,
           {tensor_named(b, call, "self"), tensor_named(b, call, "target"),
            call.integer("reduction")})[0];
}

}  // namespace

std::vector<CompositeRow> loss_composites() {
  return {
      {"aten::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., "
       "int reduction=1) -> Tensor",
       margin_ranking},
      {"aten::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float "
       "margin=1., float p=2., float eps=1e-06, bool swap=False, int reduction=1) -> Tensor",
       triplet_margin},
      {"aten::poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, "
       "int reduction) -> Tensor",
       poisson},
      {"aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., "
       "int reduction=1) -> Tensor",
       cosine_embedding},
      {"aten::hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int reduction=1) "
       "-> Tensor",
       hinge_embedding},
      {"aten::multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
       multilabel_margin},
  };
}

}  // namespace recut
