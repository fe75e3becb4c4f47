// Activations of neural networks.
#include <algorithm>
#include <cmath>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/pointwise.h"

namespace recut {
namespace {

using namespace elementwise;

// A Scalar parameter rounded to the computation dtype.
double activation_given(const KernelContext& c, std::string_view parameter) {
  return number(c.call.scalar(parameter), result_dtype(c.call));
}

Result<Done> threshold(KernelContext& c) {
  const Scalar edge = c.call.scalar("threshold");
  const Scalar value = c.call.scalar("value");
  return arithmetic(
      c,
      [=](auto x) {
        if constexpr (std::is_same_v<decltype(x), double>)
          return x <= edge.real ? value.real : x;
        else
          return x <= edge.integer ? value.integer : x;
      },
      "self");
}

Result<Done> leaky_relu(KernelContext& c) {
  const double slope = activation_given(c, "negative_slope");
  return reals(
      c, [=](double x) { return x > 0 ? x : x * slope; }, "self");
}

double elu(double x, double alpha, double scale, double input_scale) {
  return x < 0 ? std::expm1(x * input_scale) * alpha * scale : x * scale;
}

Result<Done> elu_kernel(KernelContext& c) {
  const double alpha = activation_given(c, "alpha");
  const double scale = activation_given(c, "scale");
  const double input_scale = activation_given(c, "input_scale");
  return reals(
      c, [=](double x) { return elu(x, alpha, scale, input_scale); }, "self");
}

Result<Done> celu(KernelContext& c) {
  const double alpha = activation_given(c, "alpha");
  return reals(
      c, [=](double x) { return elu(x, alpha, 1, 1 / alpha); }, "self");
}

// Klambauer et al., Self-Normalizing Neural Networks (2017).
double selu(double x) { return elu(x, 1.6732632423543772848, 1.0507009873554804934, 1); }

double gelu(double x) { return x * 0.5 * (1 + std::erf(x * 0.70710678118654752440)); }

// Hendrycks and Gimpel, Gaussian Error Linear Units (2016), their approximation.
double gelu_tanh(double x) {
  const double inner = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

Result<Done> gelu_kernel(KernelContext& c) {
  if (c.call.text("approximate") == "tanh")
    return reals(
        c, [](double x) { return gelu_tanh(x); }, "self");
  return reals(
      c, [](double x) { return gelu(x); }, "self");
}

Result<Done> hardtanh(KernelContext& c) {
  const double min_value = activation_given(c, "min_val");
  const double max_value = activation_given(c, "max_val");
  return reals(
      c, [=](double x) { return smaller(larger(x, min_value), max_value); }, "self");
}

double hardsigmoid(double x) { return smaller(larger(x + 3, 0.0), 6.0) / 6; }

Result<Done> softplus(KernelContext& c) {
  const double beta = activation_given(c, "beta");
  const double edge = activation_given(c, "threshold");
  return reals(
      c, [=](double x) { return x * beta > edge ? x : std::log1p(std::exp(x * beta)) / beta; },
      "self");
}

Result<Done> softshrink(KernelContext& c) {
  const double edge = activation_given(c, "lambd");
  // Times 0 in between, so that NaN stays.
  return reals(
      c, [=](double x) { return x > edge ? x - edge : (x < -edge ? x + edge : x * 0); }, "self");
}

Result<Done> hardshrink(KernelContext& c) {
  const double edge = activation_given(c, "lambd");
  return reals(
      c, [=](double x) { return x >= -edge && x <= edge ? 0.0 : x; }, "self");
}

double log_sigmoid(double x) { return std::fmin(x, 0.0) - std::log1p(std::exp(-std::abs(x))); }

Result<Done> log_sigmoid_kernel(KernelContext& c) {
  return reals(
      c, [](double x) { return std::isnan(x) ? x : log_sigmoid(x); }, "self");
}

Result<Done> log_sigmoid_forward(KernelContext& c) {
  // The second output is empty where a GPU computes.
  const bool buffered = c.output_types[1].shape == c.output_types[0].shape;
  if (buffered)
    c.write(map<double>([](double x) { return std::exp(-std::abs(x)); }, c.reals("self")), 1);
  return log_sigmoid_kernel(c);
}

}  // namespace

void add_activation_kernels(KernelTable& table) {
  table.add(Op::relu, unary([](auto x) { return larger(x, decltype(x){0}); }));
  table.add(Op::relu6,
            unary([](auto x) { return smaller(larger(x, decltype(x){0}), decltype(x){6}); }));
  table.add(Op::threshold, threshold);
  table.add(Op::leaky_relu, leaky_relu);
  table.add(Op::_prelu_kernel, binary_real([](double x, double w) { return x > 0 ? x : w * x; }));
  table.add(Op::elu, elu_kernel);
  table.add(Op::celu, celu);
  table.add(Op::selu, unary_real([](double x) { return selu(x); }));
  table.add(Op::gelu, gelu_kernel);
  table.add(Op::silu, unary_real([](double x) { return x / (1 + std::exp(-x)); }));
  table.add(Op::mish, unary_real([](double x) { return x * std::tanh(std::log1p(std::exp(x))); }));
  table.add(Op::hardtanh, hardtanh);
  table.add(Op::hardsigmoid, unary_real([](double x) { return hardsigmoid(x); }));
  table.add(Op::hardswish, unary_real([](double x) { return x * hardsigmoid(x); }));
  table.add(Op::softplus, softplus);
  table.add(Op::softshrink, softshrink);
  table.add(Op::hardshrink, hardshrink);
  table.add(Op::log_sigmoid, log_sigmoid_kernel);
  table.add(Op::log_sigmoid_forward, log_sigmoid_forward);
}

}  // namespace recut
