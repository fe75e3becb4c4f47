#include "engine/eval/output_judge.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/eval/tolerance.h"

namespace recut {
namespace {

constexpr double kElementFactor = 4, kInterpreterFactor = 16, kPerturbedFactor = 4;
// Values of at most this size are 0 but for the rounding of f64.
constexpr double kZeroInDouble = 1e-12;

struct ErrorSize {
  CompareNorm squares;
  double max = 0;
  std::int64_t count = 0;

  void add(double error) {
    squares.add(error);
    max = std::max(max, std::abs(error));
    ++count;
  }
  double norm() const { return squares.value(); }
  double rms() const { return count > 0 ? norm() / std::sqrt(static_cast<double>(count)) : 0; }
};

// Allows an error of `norm`, and of each element `share` of its magnitude, `own` times its error in
// the interpreter, and `constant`.
struct JudgeBound {
  double norm = 0, share = 0, own = 0, constant = 0;
};

class RealOutput {
 public:
  RealOutput(const OutputValues& values, double allowed)
      : found_(unpack<double>(values.found)),
        own_(unpack<double>(values.own)),
        exact_(unpack<double>(values.exact)),
        in_f64_(values.in_f64),
        tolerance_(tolerance_of(values.own.dtype)) {
    tolerance_.relative = std::max(tolerance_.relative, allowed);
    for (std::int64_t i = 0; i < exact_.count(); ++i) add(i);
    own_error_ = error_of(own_);
  }

  void judge(OutputComparison& output) const {
    Comparison& c = output.comparison;
    c.elements = exact_.count();
    c.error = error_.norm();
    c.relative_error = relative(c.error);
    c.measurable = mismatches_ == 0;
    const double near_zero = tolerance_.absolute * std::sqrt(static_cast<double>(exact_.count()));
    c.negligible = size_.norm() <= near_zero && c.error <= near_zero;
    output.interpreter_error = relative(own_error_.norm());
    if (!c.measurable) {
      c.problem = fmt::format("{} elements differ in NaN or infinity", mismatches_);
      c.worst = Comparison::Element{mismatch_, found_[mismatch_], exact_[mismatch_]};
      return;
    }
    c.ok = within(dtype_bound(), output);
    if (c.ok) output.bound = ErrorBound::dtype;
    if (!c.ok && in_f64_ && within(interpreter_bound(), output))
      output.bound = ErrorBound::interpreter;
    mark_ill_conditioned(output);
  }

  void judge_by(std::span<const Tensor> perturbed, OutputComparison& output) const {
    if (mismatches_ > 0) return;
    JudgeBound bound = dtype_bound();
    double norm = 0, max = 0;
    for (const Tensor& tensor : perturbed) {
      const ErrorSize change = error_of(unpack<double>(tensor));
      norm = std::max(norm, change.norm());
      max = std::max(max, change.max);
    }
    output.perturbed_error = relative(norm);
    bound.norm += kPerturbedFactor * norm;
    bound.constant += kPerturbedFactor * max;
    if (within(bound, output)) output.bound = ErrorBound::perturbed;
    mark_ill_conditioned(output);
  }

 private:
  // The step's error; none where only one of step and interpreter is NaN or infinite.
  std::optional<double> error_at(std::int64_t i) const {
    const double found = found_[i], own = own_[i], exact = exact_[i];
    if (same_special(found, own) || same_special(found, exact)) return 0;
    const double error = std::abs(found - (std::isfinite(exact) ? exact : own));
    return std::isfinite(error) ? std::optional(error) : std::nullopt;
  }

  void add(std::int64_t i) {
    // A value beyond the dtype's range says nothing of the others' size.
    if (std::isfinite(exact_[i]) && std::isfinite(own_[i])) size_.add(exact_[i]);
    if (const auto error = error_at(i))
      error_.add(*error);
    else if (mismatches_++ == 0)
      mismatch_ = i;
  }

  double own_error_at(std::int64_t i) const {
    const double error = std::abs(own_[i] - exact_[i]);
    return std::isfinite(error) ? error : 0;
  }

  ErrorSize error_of(const Reals& values) const {
    ErrorSize size;
    for (std::int64_t i = 0; i < exact_.count(); ++i) {
      const double error = std::abs(values[i] - exact_[i]);
      if (std::isfinite(error)) size.add(error);
    }
    return size;
  }

  double relative(double error) const {
    return size_.norm() > 0 ? error / size_.norm() : (error > 0 ? INFINITY : 0);
  }

  // Small values may be right to their last digit, so that an absolute error is allowed only where
  // f64 doesn't tell them from 0.
  double absolute() const {
    return !in_f64_ || size_.max <= kZeroInDouble ? tolerance_.absolute : 0;
  }

  JudgeBound dtype_bound() const {
    JudgeBound bound;
    bound.norm = tolerance_.relative * size_.norm() +
                 absolute() * std::sqrt(static_cast<double>(exact_.count()));
    bound.share = kElementFactor * tolerance_.relative;
    bound.constant = kElementFactor * (tolerance_.relative * size_.rms() + absolute());
    return bound;
  }

  JudgeBound interpreter_bound() const {
    JudgeBound bound = dtype_bound();
    bound.norm += kInterpreterFactor * own_error_.norm();
    bound.own = kInterpreterFactor;
    bound.constant += kInterpreterFactor * own_error_.rms();
    return bound;
  }

  double allowed_at(std::int64_t i, const JudgeBound& bound) const {
    const double magnitude = std::isfinite(exact_[i]) ? std::abs(exact_[i]) : std::abs(own_[i]);
    return bound.share * magnitude + bound.own * own_error_at(i) + bound.constant;
  }

  // Also describes the worst element, and the problem.
  bool within(const JudgeBound& bound, OutputComparison& output) const {
    Comparison& c = output.comparison;
    c.bound = bound.norm;
    c.problem.clear();
    double worst = 0, excess = 0;
    for (std::int64_t i = 0; i < exact_.count(); ++i) {
      const double error = error_at(i).value_or(0), allowed = allowed_at(i, bound);
      if (error > allowed) excess = std::max(excess, allowed > 0 ? error / allowed : INFINITY);
      const double weight = error / (allowed > 0 ? allowed : 1);
      if (weight <= worst) continue;
      worst = weight;
      c.worst = Comparison::Element{i, found_[i], exact_[i]};
    }
    if (c.error > bound.norm)
      c.problem = fmt::format("the error {:.3g} is above {:.3g}", c.error, bound.norm);
    else if (excess > 0)
      c.problem = fmt::format("element {} is {:.7g}, expected {:.7g} within {:.2g}", c.worst->index,
                              c.worst->found, c.worst->expected, allowed_at(c.worst->index, bound));
    return c.problem.empty();
  }

  void mark_ill_conditioned(OutputComparison& output) const {
    if (!output.is_rounding()) return;
    const double large = std::max(1e-3, 2 * tolerance_.relative);
    output.ill_conditioned = output.comparison.relative_error > large;
    for (std::int64_t i = 0; i < exact_.count() && !output.ill_conditioned; ++i)
      output.ill_conditioned =
          error_at(i).value_or(0) > 10 * large * (std::abs(exact_[i]) + size_.rms());
  }

  Reals found_, own_, exact_;
  bool in_f64_;
  CompareTolerance tolerance_;
  ErrorSize size_, error_, own_error_;
  std::int64_t mismatches_ = 0, mismatch_ = 0;
};

class IntegerOutput {
 public:
  explicit IntegerOutput(const OutputValues& values)
      : found_(unpack<std::int64_t>(values.found)),
        own_(unpack<std::int64_t>(values.own)),
        exact_(unpack<std::int64_t>(values.exact)) {}

  void judge(OutputComparison& output) const {
    Comparison& c = output.comparison;
    c.elements = exact_.count();
    std::int64_t differ = 0, unexplained = 0, own = 0;
    for (std::int64_t i = 0; i < exact_.count(); ++i) {
      own += own_[i] != exact_[i] ? 1 : 0;
      if (found_[i] == exact_[i]) continue;
      if (found_[i] != own_[i] && unexplained++ == 0) set_worst(i, c);
      if (differ++ == 0) set_worst(i, c);
    }
    const auto all = static_cast<double>(std::max<std::int64_t>(1, exact_.count()));
    c.error = static_cast<double>(differ);
    c.relative_error = c.error / all;
    output.interpreter_error = static_cast<double>(own) / all;
    c.ok = differ == 0;
    if (c.ok)
      output.bound = ErrorBound::dtype;
    else if (unexplained == 0)
      output.bound = ErrorBound::interpreter;
    else
      c.problem = fmt::format("{} elements differ", unexplained);
    output.ill_conditioned = output.is_rounding();
  }

  void judge_by(std::span<const Tensor> perturbed, OutputComparison& output) const {
    Comparison& c = output.comparison;
    const std::vector<bool> changes = changed_under(perturbed);
    std::int64_t unexplained = 0;
    for (std::int64_t i = 0; i < exact_.count(); ++i)
      if (found_[i] != exact_[i] && found_[i] != own_[i] && !changes[static_cast<std::size_t>(i)])
        if (unexplained++ == 0) set_worst(i, c);
    const auto changed = std::count(changes.begin(), changes.end(), true);
    output.perturbed_error = static_cast<double>(changed) /
                             static_cast<double>(std::max<std::int64_t>(1, exact_.count()));
    if (unexplained * kPerturbedFactor > static_cast<double>(changed)) {
      c.problem = fmt::format("{} elements differ that don't hinge on rounding", unexplained);
      return;
    }
    c.problem.clear();
    output.bound = ErrorBound::perturbed;
    output.ill_conditioned = true;
  }

 private:
  void set_worst(std::int64_t i, Comparison& c) const {
    c.worst =
        Comparison::Element{i, static_cast<double>(found_[i]), static_cast<double>(exact_[i])};
  }

  std::vector<bool> changed_under(std::span<const Tensor> perturbed) const {
    std::vector<bool> changes(static_cast<std::size_t>(exact_.count()));
    for (const Tensor& tensor : perturbed) {
      const Integers values = unpack<std::int64_t>(tensor);
      for (std::int64_t i = 0; i < exact_.count(); ++i)
        if (values[i] != exact_[i]) changes[static_cast<std::size_t>(i)] = true;
    }
    return changes;
  }

  Integers found_, own_, exact_;
};

}  // namespace

void judge_output(const OutputValues& values, double allowed, OutputComparison& output) {
  if (values.found.dtype != values.own.dtype || values.found.shape != values.own.shape)
    output.comparison = compare(values.found, values.own);  // describes the types
  else if (is_floating(values.own.dtype))
    RealOutput(values, allowed).judge(output);
  else
    IntegerOutput(values).judge(output);
}

void judge_by_perturbation(const OutputValues& values, std::span<const Tensor> perturbed,
                           double allowed, OutputComparison& output) {
  if (!output.comparison.measurable) return;
  if (is_floating(values.own.dtype))
    RealOutput(values, allowed).judge_by(perturbed, output);
  else
    IntegerOutput(values).judge_by(perturbed, output);
}

}  // namespace recut
