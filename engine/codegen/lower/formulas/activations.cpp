// Activations of neural networks.
#include "engine/codegen/lower/formula.h"

namespace recut::loop {
namespace {

Quantity self_of(const Site& s) { return s.operand(std::size_t{0}, s.real_common()); }

double activations_given(const Site& s, std::string_view parameter) {
  return s.given(parameter, s.real_common());
}

Quantity threshold(const Site& s) {
  const Quantity x = s.operand("self", s.common());
  const Scalar edge = s.call.scalar("threshold");
  const Scalar value = s.call.scalar("value");
  if (x.real()) return select(x <= edge.real, x.like(value.real), x);
  const auto whole = [&](std::int64_t number) {
    return Quantity::constant(x.builder(), DType::i64, number);
  };
  return select(x <= whole(edge.integer), whole(value.integer), x);
}

Quantity leaky_relu(const Site& s) {
  const Quantity x = self_of(s);
  return select(x > 0.0, x, x * activations_given(s, "negative_slope"));
}

// One weight for all channels, or one a channel.
Quantity prelu(const Site& s) {
  const TensorType& weight = s.call.tensor("weight");
  const std::size_t channel = s.at.size() > 1 ? 1 : 0;
  const bool one = element_count(weight.shape) == 1;
  const Indices which(weight.shape.size(), one || s.at.empty() ? Index(0) : s.at[channel]);
  const Quantity x = self_of(s);
  const Quantity w = s.lowering.cast(s.raw("weight", which), weight.dtype, s.real_common());
  return select(x > 0.0, x, x * w);
}

Quantity elu(Quantity x, double alpha, double scale, double input_scale) {
  return select(x < 0.0, expm1(x * input_scale) * alpha * scale, x * scale);
}

Quantity elu_of(const Site& s) {
  return elu(self_of(s), activations_given(s, "alpha"), activations_given(s, "scale"),
             activations_given(s, "input_scale"));
}

Quantity celu(const Site& s) {
  const double alpha = activations_given(s, "alpha");
  return elu(self_of(s), alpha, 1, 1 / alpha);
}

Quantity gelu(const Site& s) {
  const Quantity x = self_of(s);
  if (s.call.text("approximate") != "tanh")
    return x * 0.5 * (1.0 + erf(x * 0.70710678118654752440));
  // Hendrycks and Gimpel, Gaussian Error Linear Units (2016), their approximation.
  const Quantity inner = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1.0 + tanh(inner));
}

Quantity hardtanh(const Site& s) {
  const Quantity x = s.operand("self", s.common());
  const auto bound = [&](std::string_view parameter) {
    const Scalar scalar = s.call.scalar(parameter);
    return x.real() ? x.like(s.given(parameter, s.common()))
                    : x.like(static_cast<double>(scalar.integer));
  };
  return smaller(larger(x, bound("min_val")), bound("max_val"));
}

Quantity hardsigmoid(Quantity x) { return smaller(larger(x + 3.0, 0.0), 6.0) / 6.0; }

Quantity softplus(const Site& s) {
  const double beta = activations_given(s, "beta");
  const Quantity x = self_of(s);
  return select(x * beta > activations_given(s, "threshold"), x, log1p(exp(x * beta)) / beta);
}

// A product with 0 in between, so that NaN stays.
Quantity softshrink(const Site& s) {
  const double edge = activations_given(s, "lambd");
  const Quantity x = self_of(s);
  return select(x > edge, x - edge, select(x < -edge, x + edge, x * 0.0));
}

Quantity hardshrink(const Site& s) {
  const double edge = activations_given(s, "lambd");
  const Quantity x = self_of(s);
  return select((x >= -edge) & (x <= edge), x.like(0), x);
}

Quantity log_sigmoid(Quantity x) {
  const Quantity below = select(x < 0.0, x, x.like(0));
  return select(is_nan(x), x, below - log1p(exp(-abs(x))));
}

// The second output is empty in graphs that were exported on a GPU; its formula is never asked for
// there.
Quantity log_sigmoid_forward(const Site& s) {
  const Quantity x = self_of(s);
  return s.made.output == 0 ? log_sigmoid(x) : exp(-abs(x));
}

}  // namespace

void add_activation_formulas(FormulaTable& table) {
  table.insert(
      table.end(),
      {{Op::relu, numeric([](Quantity x) { return larger(x, 0.0); })},
       {Op::relu6, numeric([](Quantity x) { return smaller(larger(x, 0.0), 6.0); })},
       {Op::threshold, threshold},
       {Op::leaky_relu, leaky_relu},
       {Op::prelu, prelu},
       {Op::_prelu_kernel, reals([](Quantity x, Quantity w) { return select(x > 0.0, x, w * x); })},
       {Op::elu, elu_of},
       {Op::celu, celu},
       // Klambauer et al., Self-Normalizing Neural Networks (2017).
       {Op::selu,
        real([](Quantity x) { return elu(x, 1.6732632423543772848, 1.0507009873554804934, 1); })},
       {Op::gelu, gelu},
       {Op::silu, real([](Quantity x) { return x / (1.0 + exp(-x)); })},
       {Op::mish, real([](Quantity x) { return x * tanh(log1p(exp(x))); })},
       {Op::hardtanh, hardtanh},
       {Op::hardsigmoid, real([](Quantity x) { return hardsigmoid(x); })},
       {Op::hardswish, real([](Quantity x) { return x * hardsigmoid(x); })},
       {Op::softplus, softplus},
       {Op::softshrink, softshrink},
       {Op::hardshrink, hardshrink},
       {Op::log_sigmoid, real([](Quantity x) { return log_sigmoid(x); })},
       {Op::log_sigmoid_forward, log_sigmoid_forward}});
}

}  // namespace recut::loop
