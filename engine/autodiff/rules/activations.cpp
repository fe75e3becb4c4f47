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
Value by_backward(VjpContext& ctx, Op backward) {
  const Operator& row = operator_of(backward);
  Positional arguments = {ctx.grad(), ctx["self"]};
  for (std::size_t i = 2; i < row.parameters.size(); ++i)
    arguments.push_back(ctx.given(row.parameters[i].name));
  return ctx.b(backward, arguments);
}

// The same operator on another gradient: how a backward operator that is a mask depends on it.
Value again(VjpContext& ctx) {
  std::vector<Argument> arguments(ctx.call().arguments().begin(), ctx.call().arguments().end());
  arguments[0] = Argument(ctx.grad().id());
  return ctx.b.call(ctx.op(), std::move(arguments));
}

Value elu_gradient(VjpContext& ctx, const Argument& alpha, double scale,
                   const Argument& input_scale) {
  const Argument scale_argument = ctx.has("scale") ? ctx.call().argument("scale") : Argument(scale);
  return ctx.b(Op::elu_backward,
               {ctx.grad(), alpha, scale_argument, input_scale, false, ctx["self"]});
}

constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

DerivativeRule mask(Op op) {
  const std::string_view gradient = operator_of(op).parameters.front().name;
  return elementwise({op}, {{gradient, again}, {"self", nothing}});
}

// y = x Phi(x); the gradient is g (Phi(x) + x phi(x)).
Value gelu_slope(VjpContext& ctx, const Value& x) {
  if (ctx.text("approximate") == "none") {
    const Value phi = ctx.b.exp(squared(x) * -0.5) * 0.39894228040143267794;
    const Value cumulated = (unary(Op::erf, x * 0.70710678118654752440) + 1) * 0.5;
    return cumulated + x * phi;
  }
  constexpr double kBeta = 0.79788456080286535588, kKappa = 0.044715;
  const Value x2 = squared(x);
  const Value t = unary(Op::tanh, (x + x * x2 * kKappa) * kBeta);
  const Value inner = (x2 * (3 * kKappa) + 1) * kBeta;
  return (t + 1) * 0.5 + x * (1 - squared(t)) * inner * 0.5;
}

std::vector<Value> gelu_backward(VjpContext& ctx) {
  return {ctx["grad_output"] * gelu_slope(ctx, ctx["self"])};
}

std::vector<Value> silu_backward(VjpContext& ctx) {
  const Value x = ctx["self"], p = unary(Op::sigmoid, x);
  return {ctx["grad_output"] * (p * (x * (1 - p) + 1))};
}

std::vector<Value> mish_backward(VjpContext& ctx) {
  const Value x = ctx["self"], p = unary(Op::sigmoid, x);
  const Value t = unary(Op::tanh, unary(Op::softplus, x));
  return {ctx["grad_output"] * (t + x * p * (1 - squared(t)))};
}

std::vector<Value> softplus_backward(VjpContext& ctx) {
  const Value scaled = times(ctx["self"], ctx.given("beta"));
  const Value linear = ctx.b(Op::gt_Scalar, {scaled, ctx.given("threshold")});
  return {ctx.b.where(linear, ctx["grad_output"], ctx["grad_output"] * unary(Op::sigmoid, scaled))};
}

std::vector<Value> log_sigmoid_backward(VjpContext& ctx) {
  return {ctx["grad_output"] * unary(Op::sigmoid, -ctx["self"])};
}

std::vector<Value> elu_backward(VjpContext& ctx) {
  const Value x = ctx["self_or_result"], g = ctx["grad_output"];
  const double alpha = ctx.real("alpha"), scale = ctx.real("scale"), in = ctx.real("input_scale");
  const Value bent = ctx.boolean("is_result") ? (x + alpha * scale) * in
                                              : ctx.b.exp(x * in) * (alpha * scale * in);
  return {ctx.b.where(ctx.b(Op::gt_Scalar, {x, 0}), g * scale, g * bent)};
}

std::vector<Value> logit_backward(VjpContext& ctx) {
  const Value x = ctx["self"], slope = ctx["grad_output"] / (x * (1 - x));
  if (!ctx.is_given("eps")) return {slope};
  const double eps = ctx.real("eps");
  const Value inside = both(ctx.b(Op::ge_Scalar, {x, eps}), ctx.b(Op::le_Scalar, {x, 1 - eps}));
  return {keep_where(inside, slope)};
}

std::vector<Value> hardswish_backward(VjpContext& ctx) {
  const Value x = ctx["self"], g = ctx["grad_output"];
  const Value bent = ctx.b.where(ctx.b(Op::le_Scalar, {x, 3}), g * (x / 3 + 0.5), g);
  return {zero_where(ctx.b(Op::lt_Scalar, {x, -3}), bent)};
}

std::vector<Value> prelu(VjpContext& ctx) {
  const Value x = ctx["self"];
  Shape shape(static_cast<std::size_t>(x.rank()), 1);
  const Value w = ctx["weight"];
  if (x.rank() > 1)
    shape[1] = w.count();
  else if (x.rank() == 1 && w.count() == x.size(0))
    shape[0] = w.count();
  return {ctx.b(Op::_prelu_kernel, {x, ctx.b.view(w, shape)})};
}

Value prelu_part(VjpContext& ctx, std::int64_t part) {
  return ctx.b(Op::_prelu_kernel_backward, {ctx.grad(), ctx["self"], ctx["weight"]})[part];
}

std::vector<Value> prelu_backward(VjpContext& ctx) {
  const Value g = ctx["grad_output"], x = ctx["self"];
  const Value positive = ctx.b(Op::gt_Scalar, {x, 0});
  return {ctx.b.where(positive, g, g * ctx["weight"]), zero_where(positive, g * x)};
}

Value rrelu(VjpContext& ctx) {
  const bool functional = ctx.op() == Op::rrelu_with_noise_functional;
  if (!functional && ctx.boolean("training"))
    return ctx.b.fail("in training its noise is written in place: use the functional one");
  return ctx.b(Op::rrelu_with_noise_backward,
               {ctx.grad(), ctx["self"], functional ? ctx.out(1) : ctx["noise"], ctx.given("lower"),
                ctx.given("upper"), ctx.given("training"), false});
}

Value dropout(VjpContext& ctx) {
  if (ctx.is_given("train") && !ctx.boolean("train")) return ctx.grad();
  const double p = ctx.real("p");
  return ctx.b(Op::native_dropout_backward, {ctx.grad(), ctx.out(1), p < 1 ? 1 / (1 - p) : 0.0});
}

DerivativeRules piecewise() {
  return {
      elementwise({Op::relu}, {{"self",
                                [](VjpContext& ctx) {
                                  return ctx.b(Op::threshold_backward, {ctx.grad(), ctx.out(), 0});
                                }}}),
      elementwise({Op::relu6},
                  {{"self",
                    [](VjpContext& ctx) {
                      return ctx.b(Op::hardtanh_backward, {ctx.grad(), ctx["self"], 0, 6});
                    }}}),
      elementwise(
          {Op::threshold},
          {{"self", [](VjpContext& ctx) { return by_backward(ctx, Op::threshold_backward); }}}),
      elementwise({Op::leaky_relu}, {{"self",
                                      [](VjpContext& ctx) {
                                        return ctx.b(Op::leaky_relu_backward,
                                                     {ctx.grad(), ctx["self"],
                                                      ctx.given("negative_slope"), false});
                                      }}}),
      elementwise(
          {Op::hardtanh},
          {{"self", [](VjpContext& ctx) { return by_backward(ctx, Op::hardtanh_backward); }}}),
      elementwise(
          {Op::hardsigmoid},
          {{"self", [](VjpContext& ctx) { return by_backward(ctx, Op::hardsigmoid_backward); }}}),
      elementwise(
          {Op::softshrink},
          {{"self", [](VjpContext& ctx) { return by_backward(ctx, Op::softshrink_backward); }}}),
      elementwise(
          {Op::hardshrink},
          {{"self", [](VjpContext& ctx) { return by_backward(ctx, Op::hardshrink_backward); }}}),
      decomposes({Op::prelu}, prelu),
      elementwise(
          {Op::_prelu_kernel},
          {{"self", [](VjpContext& ctx) { return prelu_part(ctx, 0); }},
           {"weight",
            [](VjpContext& ctx) {
              const Value slope = zero_where(ctx.b(Op::gt_Scalar, {ctx["self"], 0}), ctx["self"]);
              return ctx.grad() * slope;
            }}}),
      vjp({Op::rrelu_with_noise, Op::rrelu_with_noise_functional}, {{"self", rrelu}}, 1),
      vjp({Op::native_dropout}, {{"input", dropout}}, 1),
      mask(Op::threshold_backward),
      mask(Op::leaky_relu_backward),
      mask(Op::hardtanh_backward),
      mask(Op::hardsigmoid_backward),
      mask(Op::softshrink_backward),
      mask(Op::hardshrink_backward),
      mask(Op::rrelu_with_noise_backward),
      elementwise({Op::native_dropout_backward}, {{"grad_output", again}}),
      decomposes({Op::_prelu_kernel_backward}, prelu_backward),
  };
}

DerivativeRules smooth() {
  return {
      elementwise({Op::elu}, {{"self",
                               [](VjpContext& ctx) {
                                 return elu_gradient(ctx, ctx.call().argument("alpha"), 1,
                                                     ctx.call().argument("input_scale"));
                               }}}),
      elementwise({Op::celu}, {{"self",
                                [](VjpContext& ctx) {
                                  return elu_gradient(ctx, ctx.call().argument("alpha"), 1,
                                                      Argument(1 / ctx.real("alpha")));
                                }}}),
      elementwise({Op::selu}, {{"self",
                                [](VjpContext& ctx) {
                                  return elu_gradient(ctx, Argument(kSeluAlpha), kSeluScale, 1);
                                }}}),
      elementwise({Op::gelu}, {{"self",
                                [](VjpContext& ctx) {
                                  return ctx.b(Op::gelu_backward, {ctx.grad(), ctx["self"]},
                                               {{"approximate", ctx.given("approximate")}});
                                }}}),
      elementwise({Op::silu},
                  {{"self", [](VjpContext& ctx) { return by_backward(ctx, Op::silu_backward); }}}),
      elementwise({Op::mish},
                  {{"self", [](VjpContext& ctx) { return by_backward(ctx, Op::mish_backward); }}}),
      elementwise(
          {Op::softplus},
          {{"self", [](VjpContext& ctx) { return by_backward(ctx, Op::softplus_backward); }}}),
      elementwise(
          {Op::hardswish},
          {{"self", [](VjpContext& ctx) { return by_backward(ctx, Op::hardswish_backward); }}}),
      elementwise({Op::log_sigmoid}, {{"self",
                                       [](VjpContext& ctx) {
                                         return ctx.grad() * unary(Op::sigmoid, -ctx["self"]);
                                       }}}),
      vjp({Op::log_sigmoid_forward},
          {{"self",
            [](VjpContext& ctx) {
              return ctx.b(Op::log_sigmoid_backward, {ctx.grad(), ctx["self"], ctx.out(1)});
            }}},
          1),
  };
}

DerivativeRules smooth_backward() {
  return {
      decomposes({Op::gelu_backward}, gelu_backward),
      decomposes({Op::silu_backward}, silu_backward),
      decomposes({Op::mish_backward}, mish_backward),
      decomposes({Op::softplus_backward}, softplus_backward),
      decomposes({Op::log_sigmoid_backward}, log_sigmoid_backward),
      decomposes({Op::elu_backward}, elu_backward),
      decomposes({Op::logit_backward}, logit_backward),
      decomposes({Op::hardswish_backward}, hardswish_backward),
      decomposes({Op::sigmoid_backward},
                 [](VjpContext& ctx) -> std::vector<Value> {
                   const Value y = ctx["output"];
                   return {ctx["grad_output"] * (y * (1 - y))};
                 }),
      decomposes({Op::tanh_backward},
                 [](VjpContext& ctx) -> std::vector<Value> {
                   return {ctx["grad_output"] * (1 - squared(ctx["output"]))};
                 }),
  };
}

}  // namespace

DerivativeRules activation_rules() {
  DerivativeRules rows;
  for (const auto family : {piecewise, smooth, smooth_backward})
    for (DerivativeRule& row : family()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff
