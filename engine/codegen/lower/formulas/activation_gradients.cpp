// Gradients of activations, as ATen's own backward operators define them.
#include "engine/codegen/lower/formula.h"
#include "engine/ir/promotion.h"
#include "engine/support/constants.h"

namespace recut::loop {
namespace {

DType common_of(const ElementContext& ctx) { return float_of(tensors_dtype(ctx.call)); }

double activation_gradient_scalar(const ElementContext& ctx, std::string_view parameter) {
  return ctx.scalar_value(parameter, common_of(ctx));
}

ScalarExpr grad_of(const ElementContext& ctx) {
  return ctx.operand(std::size_t{0}, common_of(ctx));
}
ScalarExpr x_of(const ElementContext& ctx) { return ctx.operand(1, common_of(ctx)); }

// Adapts a function of the gradient and the second operand.
template <class F>
Formula gradient(F) {
  return [](const ElementContext& ctx) {
    const ScalarExpr g = grad_of(ctx);
    return F{}(g, x_of(ctx));
  };
}

ScalarExpr threshold_backward(const ElementContext& ctx) {
  const ScalarExpr g = grad_of(ctx);
  return select(x_of(ctx) <= activation_gradient_scalar(ctx, "threshold"), g.like(0), g);
}

ScalarExpr leaky_relu_backward(const ElementContext& ctx) {
  const ScalarExpr g = grad_of(ctx);
  return select(x_of(ctx) > 0.0, g, g * activation_gradient_scalar(ctx, "negative_slope"));
}

// In training the sampled slopes are in `noise`, which is 1 where x was above 0.
ScalarExpr rrelu_backward(const ElementContext& ctx) {
  const double lower = activation_gradient_scalar(ctx, "lower"),
               upper = activation_gradient_scalar(ctx, "upper");
  const ScalarExpr g = grad_of(ctx);
  if (ctx.call.boolean("training") && upper - lower > 1e-6)
    return g * ctx.operand("noise", common_of(ctx));
  return select(ctx.operand("self", common_of(ctx)) > 0.0, g, g * ((lower + upper) / 2));
}

ScalarExpr prelu_backward(const ElementContext& ctx) {
  const DType common = ctx.common();
  const ScalarExpr g = ctx.operand("grad_output", common);
  const ScalarExpr x = ctx.operand("self", common);
  if (ctx.output.output == 1) return select(x > 0.0, x.like(0), x * g);
  return select(x > 0.0, g, ctx.operand("weight", common) * g);
}

ScalarExpr elu_backward(const ElementContext& ctx) {
  const double scale = activation_gradient_scalar(ctx, "scale");
  const double negative = activation_gradient_scalar(ctx, "alpha") * scale;
  const double input_scale = activation_gradient_scalar(ctx, "input_scale");
  const ScalarExpr g = grad_of(ctx);
  const ScalarExpr x = ctx.operand("self_or_result", common_of(ctx));
  const ScalarExpr below = ctx.call.boolean("is_result")
                               ? g * input_scale * (x + negative)
                               : g * input_scale * negative * exp(x * input_scale);
  return select(x > 0.0, g * scale, below);
}

constexpr double kRootTwoOverPi = 0.79788456080286535588;  // sqrt(2 / pi)

ScalarExpr gelu_backward(const ElementContext& ctx) {
  const ScalarExpr g = grad_of(ctx);
  const ScalarExpr x = x_of(ctx);
  if (ctx.call.text("approximate") == "tanh") {
    const ScalarExpr t = tanh(kRootTwoOverPi * (x + 0.044715 * x * x * x));
    const ScalarExpr inner_slope = kRootTwoOverPi * (1.0 + 3 * 0.044715 * x * x);
    return g * (0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * inner_slope);
  }
  const ScalarExpr distribution = 0.5 * (1.0 + erf(x * kInvSqrt2));
  const ScalarExpr density = 0.5 * kRootTwoOverPi * exp(-0.5 * x * x);
  return g * (distribution + x * density);
}

ScalarExpr silu_slope(ScalarExpr x) {
  const ScalarExpr s = 1.0 / (1.0 + exp(-x));
  return s * (1.0 + x * (1.0 - s));
}

ScalarExpr mish_slope(ScalarExpr x) {
  const ScalarExpr s = 1.0 / (1.0 + exp(-x));
  const ScalarExpr t = tanh(log1p(exp(x)));
  return t + x * s * (1.0 - t * t);
}

ScalarExpr hardswish_slope(ScalarExpr x) {
  return select(x <= -3.0, x.like(0), select(x < 3.0, x / 3.0 + 0.5, x.like(1)));
}

ScalarExpr hardtanh_backward(const ElementContext& ctx) {
  const ScalarExpr g = grad_of(ctx);
  const ScalarExpr x = x_of(ctx);
  return select((x <= activation_gradient_scalar(ctx, "min_val")) |
                    (x >= activation_gradient_scalar(ctx, "max_val")),
                g.like(0), g);
}

ScalarExpr softplus_backward(const ElementContext& ctx) {
  const double beta = activation_gradient_scalar(ctx, "beta");
  const ScalarExpr g = grad_of(ctx);
  const ScalarExpr x = x_of(ctx);
  return select(x * beta > activation_gradient_scalar(ctx, "threshold"), g,
                g / (1.0 + exp(-x * beta)));
}

ScalarExpr shrink_backward(const ElementContext& ctx) {
  const double edge = activation_gradient_scalar(ctx, "lambd");
  const ScalarExpr g = grad_of(ctx);
  const ScalarExpr x = ctx.operand("self", common_of(ctx));
  return select((x >= -edge) & (x <= edge), g.like(0), g);
}

ScalarExpr logit_backward(const ElementContext& ctx) {
  const bool clamped = ctx.call.given("eps") && ctx.call.real("eps") >= 0;
  const double least = clamped ? ctx.call.real("eps") : 0;
  const ScalarExpr g = grad_of(ctx);
  const ScalarExpr x = x_of(ctx);
  return select((x >= least) & (x <= 1 - least), g / (x * (1.0 - x)),
                g.like(clamped ? 0.0 : std::nan("")));
}

ScalarExpr dropout_backward(const ElementContext& ctx) {
  const DType common = ctx.dtype();
  const ScalarExpr g = ctx.operand("grad_output", common);
  return g * ctx.operand("mask", common) * ctx.call.real("scale");
}

}  // namespace

void add_activation_gradient_formulas(FormulaTable& table) {
  table.insert(
      table.end(),
      {{Op::threshold_backward, threshold_backward},
       {Op::leaky_relu_backward, leaky_relu_backward},
       {Op::rrelu_with_noise_backward, rrelu_backward},
       {Op::_prelu_kernel_backward, prelu_backward},
       {Op::elu_backward, elu_backward},
       {Op::gelu_backward, gelu_backward},
       {Op::silu_backward, gradient([](ScalarExpr g, ScalarExpr x) { return g * silu_slope(x); })},
       {Op::mish_backward, gradient([](ScalarExpr g, ScalarExpr x) { return g * mish_slope(x); })},
       {Op::hardtanh_backward, hardtanh_backward},
       {Op::hardsigmoid_backward, gradient([](ScalarExpr g, ScalarExpr x) {
          return select((x > -3.0) & (x < 3.0), g / 6.0, g.like(0));
        })},
       {Op::hardswish_backward,
        gradient([](ScalarExpr g, ScalarExpr x) { return g * hardswish_slope(x); })},
       {Op::softplus_backward, softplus_backward},
       {Op::softshrink_backward, shrink_backward},
       {Op::hardshrink_backward, shrink_backward},
       {Op::log_sigmoid_backward,
        gradient([](ScalarExpr g, ScalarExpr x) { return g * (1.0 / (1.0 + exp(x))); })},
       {Op::sigmoid_backward,
        gradient([](ScalarExpr g, ScalarExpr y) { return g * (1.0 - y) * y; })},
       {Op::tanh_backward, gradient([](ScalarExpr g, ScalarExpr y) { return g * (1.0 - y * y); })},
       {Op::logit_backward, logit_backward},
       {Op::native_dropout_backward, dropout_backward}});
}

}  // namespace recut::loop
