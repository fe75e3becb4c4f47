// Activations and their gradients. If ATen has a backward operator, the VJP is that operator, as in
// PyTorch's derivatives.yaml:
//
//   %y = gelu(%x)   =>   %gx = gelu_backward(%g, %x, approximate="none")
//
// Second derivatives need rules of the backward operators. The piecewise linear ones are linear in
// the gradient and have a VJP; the smooth ones are decomposed into simpler operators.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

// The VJP of an activation with a backward operator (grad, self, …). The other arguments are the
// activation's own, by name.
Value by_backward(Site& s, Op backward) {
  const Operator& row = operator_of(backward);
  Positional arguments = {s.grad(), s["self"]};
  for (std::size_t i = 2; i < row.parameters.size(); ++i)
    arguments.push_back(s.given(row.parameters[i].name));
  return s.b(backward, arguments);
}

// The same operator on another gradient: how a backward operator that is a mask depends on it.
Value again(Site& s) {
  std::vector<Argument> arguments(s.call().arguments().begin(), s.call().arguments().end());
  arguments[0] = Argument(s.grad().id());
  return s.b.call(s.op(), std::move(arguments));
}

Value elu_gradient(Site& s, const Argument& alpha, double scale, const Argument& input_scale) {
  const Argument scale_argument = s.has("scale") ? s.call().argument("scale") : Argument(scale);
  return s.b(Op::elu_backward, {s.grad(), alpha, scale_argument, input_scale, false, s["self"]});
}

constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

Row mask(Op op) {
  const std::string_view gradient = operator_of(op).parameters.front().name;
  return elementwise({op}, {{gradient, again}, {"self", nothing}});
}

// y = x Phi(x); the gradient is g (Phi(x) + x phi(x)).
Value gelu_slope(Site& s, const Value& x) {
  if (s.text("approximate") == "none") {
    const Value phi = s.b.exp(squared(x) * -0.5) * 0.39894228040143267794;
    const Value cumulated = (unary(Op::erf, x * 0.70710678118654752440) + 1) * 0.5;
    return cumulated + x * phi;
  }
  constexpr double kBeta = 0.79788456080286535588, kKappa = 0.044715;
  const Value x2 = squared(x);
  const Value t = unary(Op::tanh, (x + x * x2 * kKappa) * kBeta);
  const Value inner = (x2 * (3 * kKappa) + 1) * kBeta;
  return (t + 1) * 0.5 + x * (1 - squared(t)) * inner * 0.5;
}

std::vector<Value> gelu_backward(Site& s) { return {s["grad_output"] * gelu_slope(s, s["self"])}; }

std::vector<Value> silu_backward(Site& s) {
  const Value x = s["self"], p = unary(Op::sigmoid, x);
  return {s["grad_output"] * (p * (x * (1 - p) + 1))};
}

std::vector<Value> mish_backward(Site& s) {
  const Value x = s["self"], p = unary(Op::sigmoid, x);
  const Value t = unary(Op::tanh, unary(Op::softplus, x));
  return {s["grad_output"] * (t + x * p * (1 - squared(t)))};
}

std::vector<Value> softplus_backward(Site& s) {
  const Value scaled = times(s["self"], s.given("beta"));
  const Value linear = s.b(Op::gt_Scalar, {scaled, s.given("threshold")});
  return {s.b.where(linear, s["grad_output"], s["grad_output"] * unary(Op::sigmoid, scaled))};
}

std::vector<Value> log_sigmoid_backward(Site& s) {
  return {s["grad_output"] * unary(Op::sigmoid, -s["self"])};
}

std::vector<Value> elu_backward(Site& s) {
  const Value x = s["self_or_result"], g = s["grad_output"];
  const double alpha = s.real("alpha"), scale = s.real("scale"), in = s.real("input_scale");
  const Value bent =
      s.boolean("is_result") ? (x + alpha * scale) * in : s.b.exp(x * in) * (alpha * scale * in);
  return {s.b.where(s.b(Op::gt_Scalar, {x, 0}), g * scale, g * bent)};
}

std::vector<Value> logit_backward(Site& s) {
  const Value x = s["self"], slope = s["grad_output"] / (x * (1 - x));
  if (!s.is_given("eps")) return {slope};
  const double eps = s.real("eps");
  const Value inside = both(s.b(Op::ge_Scalar, {x, eps}), s.b(Op::le_Scalar, {x, 1 - eps}));
  return {keep_where(inside, slope)};
}

std::vector<Value> hardswish_backward(Site& s) {
  const Value x = s["self"], g = s["grad_output"];
  const Value bent = s.b.where(s.b(Op::le_Scalar, {x, 3}), g * (x / 3 + 0.5), g);
  return {zero_where(s.b(Op::lt_Scalar, {x, -3}), bent)};
}

std::vector<Value> prelu(Site& s) {
  const Value x = s["self"];
  Shape shape(static_cast<std::size_t>(x.rank()), 1);
  const Value w = s["weight"];
  if (x.rank() > 1)
    shape[1] = w.count();
  else if (x.rank() == 1 && w.count() == x.size(0))
    shape[0] = w.count();
  return {s.b(Op::_prelu_kernel, {x, s.b.view(w, shape)})};
}

Value prelu_part(Site& s, std::int64_t part) {
  return s.b(Op::_prelu_kernel_backward, {s.grad(), s["self"], s["weight"]})[part];
}

std::vector<Value> prelu_backward(Site& s) {
  const Value g = s["grad_output"], x = s["self"];
  const Value positive = s.b(Op::gt_Scalar, {x, 0});
  return {s.b.where(positive, g, g * s["weight"]), zero_where(positive, g * x)};
}

Value rrelu(Site& s) {
  const bool functional = s.op() == Op::rrelu_with_noise_functional;
  if (!functional && s.boolean("training"))
    return s.b.fail("in training its noise is written in place: use the functional one");
  return s.b(Op::rrelu_with_noise_backward,
             {s.grad(), s["self"], functional ? s.out(1) : s["noise"], s.given("lower"),
              s.given("upper"), s.given("training"), false});
}

Value dropout(Site& s) {
  if (s.is_given("train") && !s.boolean("train")) return s.grad();
  const double p = s.real("p");
  return s.b(Op::native_dropout_backward, {s.grad(), s.out(1), p < 1 ? 1 / (1 - p) : 0.0});
}

Rows piecewise() {
  return {
      elementwise({Op::relu}, {{"self",
                                [](Site& s) {
                                  return s.b(Op::threshold_backward, {s.grad(), s.out(), 0});
                                }}}),
      elementwise({Op::relu6}, {{"self",
                                 [](Site& s) {
                                   return s.b(Op::hardtanh_backward, {s.grad(), s["self"], 0, 6});
                                 }}}),
      elementwise({Op::threshold},
                  {{"self", [](Site& s) { return by_backward(s, Op::threshold_backward); }}}),
      elementwise({Op::leaky_relu}, {{"self",
                                      [](Site& s) {
                                        return s.b(Op::leaky_relu_backward,
                                                   {s.grad(), s["self"], s.given("negative_slope"),
                                                    false});
                                      }}}),
      elementwise({Op::hardtanh},
                  {{"self", [](Site& s) { return by_backward(s, Op::hardtanh_backward); }}}),
      elementwise({Op::hardsigmoid},
                  {{"self", [](Site& s) { return by_backward(s, Op::hardsigmoid_backward); }}}),
      elementwise({Op::softshrink},
                  {{"self", [](Site& s) { return by_backward(s, Op::softshrink_backward); }}}),
      elementwise({Op::hardshrink},
                  {{"self", [](Site& s) { return by_backward(s, Op::hardshrink_backward); }}}),
      expands({Op::prelu}, prelu),
      elementwise({Op::_prelu_kernel},
                  {{"self", [](Site& s) { return prelu_part(s, 0); }},
                   {"weight",
                    [](Site& s) {
                      const Value slope = zero_where(s.b(Op::gt_Scalar, {s["self"], 0}), s["self"]);
                      return s.grad() * slope;
                    }}}),
      formulas({Op::rrelu_with_noise, Op::rrelu_with_noise_functional}, {{"self", rrelu}}, 1),
      formulas({Op::native_dropout}, {{"input", dropout}}, 1),
      mask(Op::threshold_backward),
      mask(Op::leaky_relu_backward),
      mask(Op::hardtanh_backward),
      mask(Op::hardsigmoid_backward),
      mask(Op::softshrink_backward),
      mask(Op::hardshrink_backward),
      mask(Op::rrelu_with_noise_backward),
      elementwise({Op::native_dropout_backward}, {{"grad_output", again}}),
      expands({Op::_prelu_kernel_backward}, prelu_backward),
  };
}

Rows smooth() {
  return {
      elementwise({Op::elu}, {{"self",
                               [](Site& s) {
                                 return elu_gradient(s, s.call().argument("alpha"), 1,
                                                     s.call().argument("input_scale"));
                               }}}),
      elementwise({Op::celu}, {{"self",
                                [](Site& s) {
                                  return elu_gradient(s, s.call().argument("alpha"), 1,
                                                      Argument(1 / s.real("alpha")));
                                }}}),
      elementwise(
          {Op::selu},
          {{"self", [](Site& s) { return elu_gradient(s, Argument(kSeluAlpha), kSeluScale, 1); }}}),
      elementwise({Op::gelu}, {{"self",
                                [](Site& s) {
                                  return s.b(Op::gelu_backward, {s.grad(), s["self"]},
                                             {{"approximate", s.given("approximate")}});
                                }}}),
      elementwise({Op::silu},
                  {{"self", [](Site& s) { return by_backward(s, Op::silu_backward); }}}),
      elementwise({Op::mish},
                  {{"self", [](Site& s) { return by_backward(s, Op::mish_backward); }}}),
      elementwise({Op::softplus},
                  {{"self", [](Site& s) { return by_backward(s, Op::softplus_backward); }}}),
      elementwise({Op::hardswish},
                  {{"self", [](Site& s) { return by_backward(s, Op::hardswish_backward); }}}),
      elementwise({Op::log_sigmoid},
                  {{"self", [](Site& s) { return s.grad() * unary(Op::sigmoid, -s["self"]); }}}),
      formulas({Op::log_sigmoid_forward},
               {{"self",
                 [](Site& s) {
                   return s.b(Op::log_sigmoid_backward, {s.grad(), s["self"], s.out(1)});
                 }}},
               1),
  };
}

Rows smooth_backward() {
  return {
      expands({Op::gelu_backward}, gelu_backward),
      expands({Op::silu_backward}, silu_backward),
      expands({Op::mish_backward}, mish_backward),
      expands({Op::softplus_backward}, softplus_backward),
      expands({Op::log_sigmoid_backward}, log_sigmoid_backward),
      expands({Op::elu_backward}, elu_backward),
      expands({Op::logit_backward}, logit_backward),
      expands({Op::hardswish_backward}, hardswish_backward),
      expands({Op::sigmoid_backward},
              [](Site& s) -> std::vector<Value> {
                const Value y = s["output"];
                return {s["grad_output"] * (y * (1 - y))};
              }),
      expands({Op::tanh_backward},
              [](Site& s) -> std::vector<Value> {
                return {s["grad_output"] * (1 - squared(s["output"]))};
              }),
  };
}

}  // namespace

Rows activation_rows() {
  Rows rows;
  for (const auto family : {piecewise, smooth, smooth_backward})
    for (Row& row : family()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff
