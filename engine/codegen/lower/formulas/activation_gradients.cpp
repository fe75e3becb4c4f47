// Gradients of activations, as ATen's own backward operators define them.
#include "engine/codegen/lower/formula.h"
#include "engine/ir/promotion.h"
#include "engine/support/constants.h"

namespace recut::loop {
namespace {

DType common_of(const Site& s) { return float_of(tensors_dtype(s.call)); }

double activation_gradients_given(const Site& s, std::string_view parameter) {
  return s.given(parameter, common_of(s));
}

Quantity grad_of(const Site& s) { return s.operand(std::size_t{0}, common_of(s)); }
Quantity x_of(const Site& s) { return s.operand(1, common_of(s)); }

// Adapts a function of the gradient and the second operand.
template <class F>
Formula gradient(F) {
  return [](const Site& s) {
    const Quantity g = grad_of(s);
    return F{}(g, x_of(s));
  };
}

Quantity threshold_backward(const Site& s) {
  const Quantity g = grad_of(s);
  return select(x_of(s) <= activation_gradients_given(s, "threshold"), g.like(0), g);
}

Quantity leaky_relu_backward(const Site& s) {
  const Quantity g = grad_of(s);
  return select(x_of(s) > 0.0, g, g * activation_gradients_given(s, "negative_slope"));
}

// In training the sampled slopes are in `noise`, which is 1 where x was above 0.
Quantity rrelu_backward(const Site& s) {
  const double lower = activation_gradients_given(s, "lower"),
               upper = activation_gradients_given(s, "upper");
  const Quantity g = grad_of(s);
  if (s.call.boolean("training") && upper - lower > 1e-6)
    return g * s.operand("noise", common_of(s));
  return select(s.operand("self", common_of(s)) > 0.0, g, g * ((lower + upper) / 2));
}

Quantity prelu_backward(const Site& s) {
  const DType common = s.common();
  const Quantity g = s.operand("grad_output", common);
  const Quantity x = s.operand("self", common);
  if (s.made.output == 1) return select(x > 0.0, x.like(0), x * g);
  return select(x > 0.0, g, s.operand("weight", common) * g);
}

Quantity elu_backward(const Site& s) {
  const double scale = activation_gradients_given(s, "scale");
  const double negative = activation_gradients_given(s, "alpha") * scale;
  const double input_scale = activation_gradients_given(s, "input_scale");
  const Quantity g = grad_of(s);
  const Quantity x = s.operand("self_or_result", common_of(s));
  const Quantity below = s.call.boolean("is_result")
                             ? g * input_scale * (x + negative)
                             : g * input_scale * negative * exp(x * input_scale);
  return select(x > 0.0, g * scale, below);
}

constexpr double kRootTwoOverPi = 0.79788456080286535588;  // sqrt(2 / pi)

Quantity gelu_backward(const Site& s) {
  const Quantity g = grad_of(s);
  const Quantity x = x_of(s);
  if (s.call.text("approximate") == "tanh") {
    const Quantity t = tanh(kRootTwoOverPi * (x + 0.044715 * x * x * x));
    const Quantity inner_slope = kRootTwoOverPi * (1.0 + 3 * 0.044715 * x * x);
    return g * (0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * inner_slope);
  }
  const Quantity distribution = 0.5 * (1.0 + erf(x * kRootHalf));
  const Quantity density = 0.5 * kRootTwoOverPi * exp(-0.5 * x * x);
  return g * (distribution + x * density);
}

Quantity silu_slope(Quantity x) {
  const Quantity s = 1.0 / (1.0 + exp(-x));
  return s * (1.0 + x * (1.0 - s));
}

Quantity mish_slope(Quantity x) {
  const Quantity s = 1.0 / (1.0 + exp(-x));
  const Quantity t = tanh(log1p(exp(x)));
  return t + x * s * (1.0 - t * t);
}

Quantity hardswish_slope(Quantity x) {
  return select(x <= -3.0, x.like(0), select(x < 3.0, x / 3.0 + 0.5, x.like(1)));
}

Quantity hardtanh_backward(const Site& s) {
  const Quantity g = grad_of(s);
  const Quantity x = x_of(s);
  return select((x <= activation_gradients_given(s, "min_val")) |
                    (x >= activation_gradients_given(s, "max_val")),
                g.like(0), g);
}

Quantity softplus_backward(const Site& s) {
  const double beta = activation_gradients_given(s, "beta");
  const Quantity g = grad_of(s);
  const Quantity x = x_of(s);
  return select(x * beta > activation_gradients_given(s, "threshold"), g,
                g / (1.0 + exp(-x * beta)));
}

Quantity shrink_backward(const Site& s) {
  const double edge = activation_gradients_given(s, "lambd");
  const Quantity g = grad_of(s);
  const Quantity x = s.operand("self", common_of(s));
  return select((x >= -edge) & (x <= edge), g.like(0), g);
}

Quantity logit_backward(const Site& s) {
  const bool clamped = s.call.given("eps") && s.call.real("eps") >= 0;
  const double least = clamped ? s.call.real("eps") : 0;
  const Quantity g = grad_of(s);
  const Quantity x = x_of(s);
  return select((x >= least) & (x <= 1 - least), g / (x * (1.0 - x)),
                g.like(clamped ? 0.0 : std::nan("")));
}

Quantity dropout_backward(const Site& s) {
  const DType common = s.dtype();
  const Quantity g = s.operand("grad_output", common);
  return g * s.operand("mask", common) * s.call.real("scale");
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
       {Op::silu_backward, gradient([](Quantity g, Quantity x) { return g * silu_slope(x); })},
       {Op::mish_backward, gradient([](Quantity g, Quantity x) { return g * mish_slope(x); })},
       {Op::hardtanh_backward, hardtanh_backward},
       {Op::hardsigmoid_backward, gradient([](Quantity g, Quantity x) {
          return select((x > -3.0) & (x < 3.0), g / 6.0, g.like(0));
        })},
       {Op::hardswish_backward,
        gradient([](Quantity g, Quantity x) { return g * hardswish_slope(x); })},
       {Op::softplus_backward, softplus_backward},
       {Op::softshrink_backward, shrink_backward},
       {Op::hardshrink_backward, shrink_backward},
       {Op::log_sigmoid_backward,
        gradient([](Quantity g, Quantity x) { return g * (1.0 / (1.0 + exp(x))); })},
       {Op::sigmoid_backward, gradient([](Quantity g, Quantity y) { return g * (1.0 - y) * y; })},
       {Op::tanh_backward, gradient([](Quantity g, Quantity y) { return g * (1.0 - y * y); })},
       {Op::logit_backward, logit_backward},
       {Op::native_dropout_backward, dropout_backward}});
}

}  // namespace recut::loop
