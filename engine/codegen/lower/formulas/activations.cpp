// Activations of neural networks.
#include "engine/codegen/lower/formula.h"

namespace recut::loop {
namespace {

ScalarExpr self_of(const ElementContext& ctx) {
  return ctx.operand(std::size_t{0}, ctx.real_common());
}

double activation_scalar(const ElementContext& ctx, std::string_view parameter) {
  return ctx.scalar_value(parameter, ctx.real_common());
}

ScalarExpr threshold(const ElementContext& ctx) {
  const ScalarExpr x = ctx.operand("self", ctx.common());
  const Scalar edge = ctx.call.scalar("threshold");
  const Scalar value = ctx.call.scalar("value");
  if (x.real()) return select(x <= edge.real, x.like(value.real), x);
  const auto whole = [&](std::int64_t number) {
    return ScalarExpr::constant(x.builder(), DType::i64, number);
  };
  return select(x <= whole(edge.integer), whole(value.integer), x);
}

ScalarExpr leaky_relu(const ElementContext& ctx) {
  const ScalarExpr x = self_of(ctx);
  return select(x > 0.0, x, x * activation_scalar(ctx, "negative_slope"));
}

// One weight for all channels, or one a channel.
ScalarExpr prelu(const ElementContext& ctx) {
  const TensorType& weight = ctx.call.tensor("weight");
  const std::size_t channel = ctx.at.size() > 1 ? 1 : 0;
  const bool one = element_count(weight.shape) == 1;
  const Indices which(weight.shape.size(), one || ctx.at.empty() ? Index(0) : ctx.at[channel]);
  const ScalarExpr x = self_of(ctx);
  const ScalarExpr w = ctx.lowering.cast(ctx.raw("weight", which), weight.dtype, ctx.real_common());
  return select(x > 0.0, x, x * w);
}

ScalarExpr elu(ScalarExpr x, double alpha, double scale, double input_scale) {
  return select(x < 0.0, expm1(x * input_scale) * alpha * scale, x * scale);
}

ScalarExpr elu_of(const ElementContext& ctx) {
  return elu(self_of(ctx), activation_scalar(ctx, "alpha"), activation_scalar(ctx, "scale"),
             activation_scalar(ctx, "input_scale"));
}

ScalarExpr celu(const ElementContext& ctx) {
  const double alpha = activation_scalar(ctx, "alpha");
  return elu(self_of(ctx), alpha, 1, 1 / alpha);
}

ScalarExpr gelu(const ElementContext& ctx) {
  const ScalarExpr x = self_of(ctx);
  if (ctx.call.text("approximate") != "tanh")
    return x * 0.5 * (1.0 + erf(x * 0.70710678118654752440));
  // Hendrycks and Gimpel, Gaussian Error Linear Units (2016), their approximation.
  const ScalarExpr inner = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1.0 + tanh(inner));
}

ScalarExpr hardtanh(const ElementContext& ctx) {
  const ScalarExpr x = ctx.operand("self", ctx.common());
  const auto bound = [&](std::string_view parameter) {
    const Scalar scalar = ctx.call.scalar(parameter);
    return x.real() ? x.like(ctx.scalar_value(parameter, ctx.common()))
                    : x.like(static_cast<double>(scalar.integer));
  };
  return smaller(larger(x, bound("min_val")), bound("max_val"));
}

ScalarExpr hardsigmoid(ScalarExpr x) { return smaller(larger(x + 3.0, 0.0), 6.0) / 6.0; }

ScalarExpr softplus(const ElementContext& ctx) {
  const double beta = activation_scalar(ctx, "beta");
  const ScalarExpr x = self_of(ctx);
  return select(x * beta > activation_scalar(ctx, "threshold"), x, log1p(exp(x * beta)) / beta);
}

// A product with 0 in between, so that NaN stays.
ScalarExpr softshrink(const ElementContext& ctx) {
  const double edge = activation_scalar(ctx, "lambd");
  const ScalarExpr x = self_of(ctx);
  return select(x > edge, x - edge, select(x < -edge, x + edge, x * 0.0));
}

ScalarExpr hardshrink(const ElementContext& ctx) {
  const double edge = activation_scalar(ctx, "lambd");
  const ScalarExpr x = self_of(ctx);
  return select((x >= -edge) & (x <= edge), x.like(0), x);
}

ScalarExpr log_sigmoid(ScalarExpr x) {
  const ScalarExpr below = select(x < 0.0, x, x.like(0));
  return select(is_nan(x), x, below - log1p(exp(-abs(x))));
}

// The second output is empty in graphs that were exported on a GPU; its formula is never asked for
// there.
ScalarExpr log_sigmoid_forward(const ElementContext& ctx) {
  const ScalarExpr x = self_of(ctx);
  return ctx.output.output == 0 ? log_sigmoid(x) : exp(-abs(x));
}

}  // namespace

void add_activation_formulas(FormulaTable& table) {
  table.insert(table.end(),
               {{Op::relu, numeric([](ScalarExpr x) { return larger(x, 0.0); })},
                {Op::relu6, numeric([](ScalarExpr x) { return smaller(larger(x, 0.0), 6.0); })},
                {Op::threshold, threshold},
                {Op::leaky_relu, leaky_relu},
                {Op::prelu, prelu},
                {Op::_prelu_kernel,
                 reals([](ScalarExpr x, ScalarExpr w) { return select(x > 0.0, x, w * x); })},
                {Op::elu, elu_of},
                {Op::celu, celu},
                // Klambauer et al., Self-Normalizing Neural Networks (2017).
                {Op::selu, real([](ScalarExpr x) {
                   return elu(x, 1.6732632423543772848, 1.0507009873554804934, 1);
                 })},
                {Op::gelu, gelu},
                {Op::silu, real([](ScalarExpr x) { return x / (1.0 + exp(-x)); })},
                {Op::mish, real([](ScalarExpr x) { return x * tanh(log1p(exp(x))); })},
                {Op::hardtanh, hardtanh},
                {Op::hardsigmoid, real([](ScalarExpr x) { return hardsigmoid(x); })},
                {Op::hardswish, real([](ScalarExpr x) { return x * hardsigmoid(x); })},
                {Op::softplus, softplus},
                {Op::softshrink, softshrink},
                {Op::hardshrink, hardshrink},
                {Op::log_sigmoid, real([](ScalarExpr x) { return log_sigmoid(x); })},
                {Op::log_sigmoid_forward, log_sigmoid_forward}});
}

}  // namespace recut::loop
