// Gradients of activations, as ATen's own backward operators define them.
#include <cmath>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/pointwise.h"
#include "engine/support/constants.h"

namespace recut {
namespace {

using namespace elementwise;

double activation_gradient_given(const KernelContext& c, std::string_view parameter) {
  return number(c.call.scalar(parameter), tensors_dtype(c.call));
}

// Applies f(grad, x) to every element, in the tensors' dtype.
template <class F>
Done gradient(KernelContext& c, F f, std::string_view grad, std::string_view x) {
  return apply<double, double>(c, float_of(tensors_dtype(c.call)), Numbers::arithmetic, f, grad, x);
}

template <class F>
Kernel gradient_of(F) {
  return [](KernelContext& c) -> Result<Done> {
    return gradient(c, F{}, name_of_parameter(c, 0), name_of_parameter(c, 1));
  };
}

Result<Done> threshold_backward(KernelContext& c) {
  const double edge = activation_gradient_given(c, "threshold");
  return gradient(
      c, [=](double g, double x) { return x <= edge ? 0.0 : g; }, "grad_output", "self");
}

Result<Done> leaky_relu_backward(KernelContext& c) {
  const double slope = activation_gradient_given(c, "negative_slope");
  return gradient(
      c, [=](double g, double x) { return x > 0 ? g : g * slope; }, "grad_output", "self");
}

// In training the slopes are the drawn ones: `noise`, 1 where x was above 0.
Result<Done> rrelu_backward(KernelContext& c) {
  const double slope =
      (activation_gradient_given(c, "lower") + activation_gradient_given(c, "upper")) / 2;
  const bool drawn =
      c.call.boolean("training") &&
      activation_gradient_given(c, "upper") - activation_gradient_given(c, "lower") > 1e-6;
  return apply<double, double>(
      c, float_of(tensors_dtype(c.call)), Numbers::arithmetic,
      [=](double g, double x, double noise) {
        if (drawn) return g * noise;
        return x > 0 ? g : g * slope;
      },
      "grad_output", "self", "noise");
}

Result<Done> prelu_backward(KernelContext& c) {
  const DType common = result_dtype(c.call);
  const Shape& shape = c.output_types[0].shape;
  const auto read = [&](std::string_view name) {
    return broadcast_to(operand<double>(c, name, common), shape);
  };
  const Reals grad = read("grad_output");
  const Reals x = read("self");
  const Reals weight = read("weight");
  c.write(map<double>([](double g, double at, double w) { return at > 0 ? g : w * g; }, grad, x,
                      weight));
  c.write(map<double>([](double g, double at) { return at > 0 ? 0.0 : at * g; }, grad, x), 1);
  return Done{};
}

Result<Done> elu_backward(KernelContext& c) {
  const double scale = activation_gradient_given(c, "scale");
  const double negative = activation_gradient_given(c, "alpha") * scale;
  const double input_scale = activation_gradient_given(c, "input_scale");
  const bool is_result = c.call.boolean("is_result");
  return gradient(
      c,
      [=](double g, double x) {
        if (x > 0) return g * scale;
        if (is_result) return g * input_scale * (x + negative);
        return g * input_scale * negative * std::exp(x * input_scale);
      },
      "grad_output", "self_or_result");
}

constexpr double kRootTwoOverPi = 0.79788456080286535588;  // sqrt(2 / pi)

double gelu_slope(double x) {
  const double distribution = 0.5 * (1 + std::erf(x * kInvSqrt2));
  const double density = 0.5 * kRootTwoOverPi * std::exp(-0.5 * x * x);
  return distribution + x * density;
}

double gelu_tanh_slope(double x) {
  const double t = std::tanh(kRootTwoOverPi * (x + 0.044715 * x * x * x));
  const double inner_slope = kRootTwoOverPi * (1 + 3 * 0.044715 * x * x);
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner_slope;
}

Result<Done> gelu_backward(KernelContext& c) {
  const bool by_tanh = c.call.text("approximate") == "tanh";
  return gradient(
      c, [=](double g, double x) { return g * (by_tanh ? gelu_tanh_slope(x) : gelu_slope(x)); },
      "grad_output", "self");
}

double silu_slope(double x) {
  const double s = 1 / (1 + std::exp(-x));
  return s * (1 + x * (1 - s));
}

double mish_slope(double x) {
  const double s = 1 / (1 + std::exp(-x));
  const double t = std::tanh(std::log1p(std::exp(x)));
  return t + x * s * (1 - t * t);
}

double hardswish_slope(double x) { return x <= -3 ? 0.0 : (x < 3 ? x / 3 + 0.5 : 1.0); }

Result<Done> hardtanh_backward(KernelContext& c) {
  const double min_value = activation_gradient_given(c, "min_val");
  const double max_value = activation_gradient_given(c, "max_val");
  return gradient(
      c, [=](double g, double x) { return x <= min_value || x >= max_value ? 0.0 : g; },
      "grad_output", "self");
}

Result<Done> softplus_backward(KernelContext& c) {
  const double beta = activation_gradient_given(c, "beta");
  const double edge = activation_gradient_given(c, "threshold");
  return gradient(
      c, [=](double g, double x) { return x * beta > edge ? g : g / (1 + std::exp(-x * beta)); },
      "grad_output", "self");
}

Result<Done> shrink_backward(KernelContext& c) {
  const double edge = activation_gradient_given(c, "lambd");
  return gradient(
      c, [=](double g, double x) { return x >= -edge && x <= edge ? 0.0 : g; },
      name_of_parameter(c, 0), "self");
}

double log_sigmoid_slope(double x) { return 1 / (1 + std::exp(x)); }

Result<Done> logit_backward(KernelContext& c) {
  const bool clamped = c.call.given("eps") && c.call.real("eps") >= 0;
  const double min_value = clamped ? c.call.real("eps") : 0;
  const double outside = clamped ? 0.0 : std::nan("");
  return gradient(
      c,
      [=](double g, double x) {
        return x >= min_value && x <= 1 - min_value ? g / (x * (1 - x)) : outside;
      },
      "grad_output", "self");
}

Result<Done> dropout_backward(KernelContext& c) {
  const double scale = c.call.real("scale");
  return apply<double, double>(
      c, c.output_types[0].dtype, Numbers::arithmetic,
      [=](double g, double mask) { return g * mask * scale; }, "grad_output", "mask");
}

}  // namespace

void add_activation_gradient_kernels(KernelTable& table) {
  table.add(Op::threshold_backward, threshold_backward);
  table.add(Op::leaky_relu_backward, leaky_relu_backward);
  table.add(Op::rrelu_with_noise_backward, rrelu_backward);
  table.add(Op::_prelu_kernel_backward, prelu_backward);
  table.add(Op::elu_backward, elu_backward);
  table.add(Op::gelu_backward, gelu_backward);
  table.add(Op::silu_backward, gradient_of([](double g, double x) { return g * silu_slope(x); }));
  table.add(Op::mish_backward, gradient_of([](double g, double x) { return g * mish_slope(x); }));
  table.add(Op::hardtanh_backward, hardtanh_backward);
  table.add(Op::hardsigmoid_backward,
            gradient_of([](double g, double x) { return x > -3 && x < 3 ? g / 6 : 0.0; }));
  table.add(Op::hardswish_backward,
            gradient_of([](double g, double x) { return g * hardswish_slope(x); }));
  table.add(Op::softplus_backward, softplus_backward);
  for (const Op op : {Op::softshrink_backward, Op::hardshrink_backward})
    table.add(op, shrink_backward);
  table.add(Op::log_sigmoid_backward,
            gradient_of([](double g, double x) { return g * log_sigmoid_slope(x); }));
  table.add(Op::sigmoid_backward, gradient_of([](double g, double y) { return g * (1 - y) * y; }));
  table.add(Op::tanh_backward, gradient_of([](double g, double y) { return g * (1 - y * y); }));
  table.add(Op::logit_backward, logit_backward);
  table.add(Op::native_dropout_backward, dropout_backward);
}

}  // namespace recut
