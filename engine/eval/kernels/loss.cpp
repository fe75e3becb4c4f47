// Losses that compare element by element.
#include <algorithm>
#include <cmath>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/gemm.h"
#include "engine/eval/kernels/pointwise.h"

namespace recut {
namespace {

// One loss: its value and its derivative with respect to x, for a target t and the operator's
// number (beta, delta).
struct Loss {
  double (*value)(double x, double t, double number);
  double (*derivative)(double x, double t, double number);
};

double log_at_least(double x) { return std::max(std::log(x), -100.0); }

constexpr Loss kSquare{[](double x, double t, double) { return (x - t) * (x - t); },
                       [](double x, double t, double) { return 2 * (x - t); }};

constexpr Loss kAbsolute{[](double x, double t, double) { return std::abs(x - t); },
                         [](double x, double t, double) { return sign_or_nan(x - t); }};

constexpr Loss kSmooth{[](double x, double t, double beta) {
                         const double d = std::abs(x - t);
                         return d < beta ? 0.5 * d * d / beta : d - 0.5 * beta;
                       },
                       [](double x, double t, double beta) {
                         const double d = x - t;
                         return std::abs(d) < beta ? d / beta : sign_or_nan(d);
                       }};

constexpr Loss kHuber{[](double x, double t, double delta) {
                        const double d = std::abs(x - t);
                        return d <= delta ? 0.5 * d * d : delta * (d - 0.5 * delta);
                      },
                      [](double x, double t, double delta) {
                        return std::clamp(x - t, -std::abs(delta), std::abs(delta));
                      }};

constexpr Loss kSoftMargin{[](double x, double t, double) { return std::log1p(std::exp(-t * x)); },
                           [](double x, double t, double) {
                             const double z = std::exp(-t * x);
                             return std::isinf(z) ? -t : -t * z / (1 + z);
                           }};

// A target of 0 adds nothing, not even where its logarithm is infinite.
constexpr Loss kDivergence{[](double x, double t, double log_target) {
                             if (log_target != 0) return std::exp(t) * (t - x);
                             return t == 0 ? 0.0 : t * (std::log(t) - x);
                           },
                           nullptr};

constexpr Loss kEntropy{
    [](double x, double t, double) { return (t - 1) * log_at_least(1 - x) - t * log_at_least(x); },
    [](double x, double t, double) { return (x - t) / std::max((1 - x) * x, 1e-12); }};

// The operator's Scalar parameter besides reduction.
double number_of(const Call& call) {
  for (const std::string_view name : {"beta", "delta"})
    if (call.op().parameter(name)) return call.real(name);
  if (call.op().parameter("log_target")) return call.boolean("log_target") ? 1 : 0;
  return 0;
}

Reals spread(const KernelContext& c, std::string_view parameter, const Shape& shape) {
  return elementwise::broadcast_to(c.reals(parameter), shape);
}

// True if an optional tensor was given.
bool has(const KernelContext& c, std::string_view parameter) {
  return c.call.op().parameter(parameter) && c.call.is_tensor(parameter);
}

Shape elements_of(const KernelContext& c) {
  return broadcast(c.call.tensor("self").shape, c.call.tensor("target").shape).value();
}

// Writes the losses of all elements, or their mean or sum.
void write_reduced(KernelContext& c, const Reals& losses) {
  const std::int64_t reduction = c.call.integer("reduction");
  if (reduction == 0) {
    c.write(losses);
    return;
  }
  Reals total{Shape{}};
  for (const double x : losses.data) total[0] += x;
  if (reduction == 1) total[0] /= static_cast<double>(losses.count());
  c.write(total);
}

template <const Loss& loss>
Result<Done> forward(KernelContext& c) {
  const Shape shape = elements_of(c);
  Reals out = spread(c, "self", shape);
  const Reals target = spread(c, "target", shape);
  const double number = number_of(c.call);
  // A Huber or smooth loss of width 0 is the absolute difference.
  const bool narrow = &loss == &kSmooth && number == 0;
  for (std::int64_t i = 0; i < out.count(); ++i)
    out[i] = narrow ? std::abs(out[i] - target[i]) : loss.value(out[i], target[i], number);
  if (has(c, "weight")) {
    const Reals weight = spread(c, "weight", shape);
    for (std::int64_t i = 0; i < out.count(); ++i) out[i] *= weight[i];
  }
  write_reduced(c, out);
  return Done{};
}

template <const Loss& loss>
Result<Done> backward(KernelContext& c) {
  const Shape shape = elements_of(c);
  Reals out = spread(c, "self", shape);
  const Reals target = spread(c, "target", shape);
  const Reals grad = spread(c, "grad_output", shape);
  const double number = number_of(c.call);
  const double share =
      c.call.integer("reduction") == 1 ? 1 / static_cast<double>(out.count()) : 1.0;
  for (std::int64_t i = 0; i < out.count(); ++i)
    out[i] = loss.derivative(out[i], target[i], number) * grad[i] * share;
  if (has(c, "weight")) {
    const Reals weight = spread(c, "weight", shape);
    for (std::int64_t i = 0; i < out.count(); ++i) out[i] *= weight[i];
  }
  c.write(out);
  return Done{};
}

// (1 - t) x + (1 + (p - 1) t) log(1 + exp(-x)), which overflows nowhere.
Result<Done> entropy_with_logits(KernelContext& c) {
  const Shape shape = elements_of(c);
  Reals out = spread(c, "self", shape);
  const Reals target = spread(c, "target", shape);
  const Reals positive = has(c, "pos_weight") ? spread(c, "pos_weight", shape) : Reals(shape, 1.0);
  const Reals weight = has(c, "weight") ? spread(c, "weight", shape) : Reals(shape, 1.0);
  for (std::int64_t i = 0; i < out.count(); ++i) {
    const double x = out[i];
    const double softplus = std::log1p(std::exp(-std::abs(x))) + std::max(-x, 0.0);
    const double factor = 1 + (positive[i] - 1) * target[i];
    out[i] = ((1 - target[i]) * x + factor * softplus) * weight[i];
  }
  write_reduced(c, out);
  return Done{};
}

}  // namespace

void add_loss_kernels(KernelTable& t) {
  t.add(Op::mse_loss, forward<kSquare>);
  t.add(Op::mse_loss_backward, backward<kSquare>);
  t.add(Op::l1_loss, forward<kAbsolute>);
  t.add(Op::smooth_l1_loss, forward<kSmooth>);
  t.add(Op::smooth_l1_loss_backward, backward<kSmooth>);
  t.add(Op::huber_loss, forward<kHuber>);
  t.add(Op::huber_loss_backward, backward<kHuber>);
  t.add(Op::soft_margin_loss, forward<kSoftMargin>);
  t.add(Op::soft_margin_loss_backward, backward<kSoftMargin>);
  t.add(Op::kl_div, forward<kDivergence>);
  t.add(Op::binary_cross_entropy, forward<kEntropy>);
  t.add(Op::binary_cross_entropy_backward, backward<kEntropy>);
  t.add(Op::binary_cross_entropy_with_logits, entropy_with_logits);
}

}  // namespace recut
