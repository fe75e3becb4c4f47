// Losses whose targets name classes.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/eval/kernel.h"
#include "engine/eval/kernels/gemm.h"

namespace recut {
namespace {

// Scores [N, C, positions…] or [C]; item i is one position of a sample.
struct Classes {
  std::int64_t count = 0;      // classes
  std::int64_t positions = 1;  // after the class dimension

  explicit Classes(const Shape& scores) : count(scores.size() > 1 ? scores[1] : scores[0]) {
    for (std::size_t i = 2; i < scores.size(); ++i) positions *= scores[i];
  }
  // The flat index of item i's score of a class.
  std::int64_t at(std::int64_t item, std::int64_t of_class) const {
    return (item / positions * count + of_class) * positions + item % positions;
  }
};

Diagnostic no_class(std::int64_t target, std::int64_t classes) {
  return error(fmt::format("target {} is no class of {}", target, classes));
}

// Targets with their weights: 0 where a target is ignored.
struct Targets {
  Integers classes;
  Reals weights;

  bool ignored(std::int64_t i) const { return classes[i] < 0; }
};

Result<Targets> read_targets(const KernelContext& c, const Classes& scores) {
  Targets t{c.integers("target"), Reals()};
  t.weights = Reals(t.classes.shape);
  const bool weighted = c.call.is_tensor("weight");
  const Reals weight = weighted ? c.reals("weight") : Reals();
  const std::int64_t ignored = c.call.integer("ignore_index");
  for (std::int64_t i = 0; i < t.classes.count(); ++i) {
    const std::int64_t target = t.classes[i];
    if (target == ignored) {
      t.classes[i] = -1;
      continue;
    }
    if (target < 0 || target >= scores.count) return no_class(target, scores.count);
    t.weights[i] = weighted ? weight[target] : 1.0;
  }
  return t;
}

double total_of(const Reals& x) {
  double total = 0;
  for (const double v : x.data) total += v;
  return total;
}

// Writes the losses, their sum, or the sum divided by `total`.
void write_reduced(KernelContext& c, const Reals& losses, double total) {
  const std::int64_t reduction = c.call.integer("reduction");
  if (reduction == 0) return c.write(losses);
  const double sum = total_of(losses);
  c.write(Reals(Shape{}, reduction == 1 ? sum / total : sum));
}

Result<Done> nll_loss(KernelContext& c) {
  const Reals self = c.reals("self");
  const Classes classes(self.shape);
  const auto targets = read_targets(c, classes);
  if (!targets) return targets.diagnostics();
  Reals losses(targets->classes.shape);
  for (std::int64_t i = 0; i < losses.count(); ++i)
    if (!targets->ignored(i))
      losses[i] = -self[classes.at(i, targets->classes[i])] * targets->weights[i];
  const double total = total_of(targets->weights);
  write_reduced(c, losses, total);
  const double shown = c.call.integer("reduction") == 0 ? 0.0 : total;
  if (c.outputs.size() > 1) c.write(Reals(Shape{}, shown), 1);
  return Done{};
}

Result<Done> nll_loss_backward(KernelContext& c) {
  Reals out(c.output_types[0].shape);
  const Classes classes(out.shape);
  const auto targets = read_targets(c, classes);
  if (!targets) return targets.diagnostics();
  const Reals grad = c.reals("grad_output");
  const std::int64_t reduction = c.call.integer("reduction");
  const double total = c.reals("total_weight")[0];
  for (std::int64_t i = 0; i < targets->classes.count(); ++i) {
    if (targets->ignored(i)) continue;
    double g = -grad[reduction == 0 ? i : 0] * targets->weights[i];
    if (reduction == 1) g /= total;
    out[classes.at(i, targets->classes[i])] = g;
  }
  c.write(out);
  return Done{};
}

// Log-softmax over the classes of every item.
Reals log_softmax(const Reals& x, const Classes& classes) {
  Reals out(x.shape);
  const std::int64_t items = classes.count == 0 ? 0 : x.count() / classes.count;
  for (std::int64_t i = 0; i < items; ++i) {
    double largest = -INFINITY;
    for (std::int64_t k = 0; k < classes.count; ++k)
      largest = std::max(largest, x[classes.at(i, k)]);
    double sum = 0;
    for (std::int64_t k = 0; k < classes.count; ++k) sum += std::exp(x[classes.at(i, k)] - largest);
    for (std::int64_t k = 0; k < classes.count; ++k)
      out[classes.at(i, k)] = x[classes.at(i, k)] - largest - std::log(sum);
  }
  return out;
}

// Smoothing takes a part of each target and spreads it evenly over all classes.
Result<Done> cross_entropy_loss(KernelContext& c) {
  const Reals self = c.reals("self");
  const Classes classes(self.shape);
  const Reals logs = log_softmax(self, classes);
  const double smoothing = c.call.real("label_smoothing");
  const bool probabilities = is_floating(c.call.tensor("target").dtype);
  const bool weighted = c.call.is_tensor("weight");
  const Reals weight = weighted ? c.reals("weight") : Reals(Shape{classes.count}, 1.0);
  const Reals given = probabilities ? c.reals("target") : Reals();
  std::optional<Targets> targets;
  if (!probabilities) {
    auto read = read_targets(c, classes);
    if (!read) return read.diagnostics();
    targets = std::move(*read);
  }
  const std::int64_t items = classes.count == 0 ? 0 : self.count() / classes.count;
  Shape shape = self.shape;
  shape.erase(shape.begin() + (shape.size() > 1 ? 1 : 0));
  Reals losses(shape);
  const double even = smoothing / static_cast<double>(classes.count);
  for (std::int64_t i = 0; i < items; ++i)
    for (std::int64_t k = 0; k < classes.count; ++k) {
      if (targets && targets->ignored(i)) continue;
      const double target =
          targets ? (targets->classes[i] == k ? 1.0 : 0.0) : given[classes.at(i, k)];
      losses[i] -= logs[classes.at(i, k)] * weight[k] * (target * (1 - smoothing) + even);
    }
  write_reduced(c, losses, targets ? total_of(targets->weights) : static_cast<double>(items));
  return Done{};
}

// Calls visit(row, class, target class, hinge, derivative of the loss by the class's score) for
// every other class that comes within the margin.
struct MultiMargin {
  double margin, power;
  std::int64_t classes;
  Reals scores, weight;
  Integers targets;

  explicit MultiMargin(const KernelContext& c)
      : margin(c.call.scalar("margin").real),
        power(c.call.scalar("p").real),
        classes(c.call.tensor("self").shape.back()),
        scores(c.reals("self")),
        weight(c.call.is_tensor("weight") ? c.reals("weight") : Reals(Shape{classes}, 1.0)),
        targets(c.integers("target")) {}

  template <class Visit>
  Result<Done> each(Visit&& visit) const {
    for (std::int64_t row = 0; row < scores.count() / classes; ++row) {
      const std::int64_t target = targets[row];
      if (target < 0 || target >= classes) return no_class(target, classes);
      const double scale = weight[target] / static_cast<double>(classes);
      for (std::int64_t k = 0; k < classes; ++k) {
        const double hinge = margin - scores[row * classes + target] + scores[row * classes + k];
        if (k == target || !(hinge > 0)) continue;
        visit(row, k, target, scale * (power == 1 ? hinge : hinge * hinge),
              scale * (power == 1 ? 1 : 2 * hinge));
      }
    }
    return Done{};
  }
};

Result<Done> multi_margin_loss(KernelContext& c) {
  const MultiMargin m(c);
  const std::int64_t rows = m.scores.count() / m.classes;
  Reals losses(Shape(m.scores.shape.begin(), m.scores.shape.end() - 1));
  const auto done = m.each([&](std::int64_t row, std::int64_t, std::int64_t, double loss, double) {
    losses[row] += loss;
  });
  if (!done) return done;
  write_reduced(c, losses, static_cast<double>(rows));
  return Done{};
}

// The gradient that row `row` of a loss receives.
double row_gradient(const KernelContext& c, const Reals& grad, std::int64_t row,
                    std::int64_t rows) {
  const std::int64_t reduction = c.call.integer("reduction");
  const double g = grad[grad.count() > 1 ? row : 0];
  return reduction == 1 ? g / static_cast<double>(rows) : g;
}

Result<Done> multi_margin_loss_backward(KernelContext& c) {
  const MultiMargin m(c);
  const Reals grad = c.reals("grad_output");
  const std::int64_t rows = m.scores.count() / m.classes;
  Reals out(m.scores.shape);
  const auto done =
      m.each([&](std::int64_t row, std::int64_t k, std::int64_t target, double, double slope) {
        const double g = slope * row_gradient(c, grad, row, rows);
        out[row * m.classes + k] += g;
        out[row * m.classes + target] -= g;
      });
  if (!done) return done;
  c.write(out);
  return Done{};
}

// Calls visit(row, other class, target class, hinge): targets of a row end at its first negative
// one, and classes that are targets aren't compared.
template <class Visit>
Result<Done> each_multilabel_hinge(const Reals& scores, const Integers& targets, Reals& is_target,
                                   Visit&& visit) {
  const std::int64_t classes = scores.shape.back();
  for (std::int64_t row = 0; row < scores.count() / classes; ++row) {
    std::int64_t count = 0;
    for (; count < classes && targets[row * classes + count] >= 0; ++count) {
      const std::int64_t target = targets[row * classes + count];
      if (target >= classes) return no_class(target, classes);
      is_target[row * classes + target] = 1;
    }
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t k = 0; k < classes; ++k) {
        const std::int64_t target = targets[row * classes + i];
        const double hinge = 1 - scores[row * classes + target] + scores[row * classes + k];
        if (is_target[row * classes + k] == 0 && hinge > 0) visit(row, k, target, hinge);
      }
  }
  return Done{};
}

Result<Done> multilabel_margin_loss(KernelContext& c) {
  const Reals scores = c.reals("self");
  const std::int64_t classes = scores.shape.back();
  Reals is_target(scores.shape);
  Reals losses(Shape(scores.shape.begin(), scores.shape.end() - 1));
  const auto done =
      each_multilabel_hinge(scores, c.integers("target"), is_target,
                            [&](std::int64_t row, std::int64_t, std::int64_t, double hinge) {
                              losses[row] += hinge / static_cast<double>(classes);
                            });
  if (!done) return done;
  write_reduced(c, losses, static_cast<double>(losses.count()));
  c.write(is_target, 1);
  return Done{};
}

Result<Done> multilabel_margin_loss_backward(KernelContext& c) {
  const Reals scores = c.reals("self");
  const Reals grad = c.reals("grad_output");
  const std::int64_t classes = scores.shape.back();
  const std::int64_t rows = scores.count() / classes;
  Reals is_target(scores.shape);
  Reals out(scores.shape);
  const auto done = each_multilabel_hinge(
      scores, c.integers("target"), is_target,
      [&](std::int64_t row, std::int64_t k, std::int64_t target, double) {
        const double g = row_gradient(c, grad, row, rows) / static_cast<double>(classes);
        out[row * classes + k] += g;
        out[row * classes + target] -= g;
      });
  if (!done) return done;
  c.write(out);
  return Done{};
}

}  // namespace

void add_class_loss_kernels(KernelTable& t) {
  for (const Op op : {Op::nll_loss_forward, Op::nll_loss2d_forward, Op::nll_loss, Op::nll_loss_nd,
                      Op::nll_loss2d})
    t.add(op, nll_loss);
  t.add(Op::nll_loss_backward, nll_loss_backward);
  t.add(Op::nll_loss2d_backward, nll_loss_backward);
  t.add(Op::cross_entropy_loss, cross_entropy_loss);
  t.add(Op::multi_margin_loss, multi_margin_loss);
  t.add(Op::multi_margin_loss_backward, multi_margin_loss_backward);
  t.add(Op::multilabel_margin_loss_forward, multilabel_margin_loss);
  t.add(Op::multilabel_margin_loss_backward, multilabel_margin_loss_backward);
}

}  // namespace recut
