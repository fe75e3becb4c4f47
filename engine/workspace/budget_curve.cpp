#include "engine/workspace/budget_curve.h"

#include <algorithm>

#include "engine/ir/data_flow.h"
#include "engine/partition/peak/bounds.h"
#include "engine/partition/peak/least_peak_order.h"
#include "engine/partition/peak/peak_of.h"
#include "engine/partition/problem/fused_plan_from_saved.h"
#include "engine/partition/replay.h"
#include "engine/support/check.h"

// The points come in three stages, each reusing the plans of the one before as warm starts: a
// coarse search from the largest budget down, the search for the minimum peak, and one sweep over
// evenly spaced budgets (peak/budget_sweep.cpp). Invariant: a point's figures are its plan's
// replay, and a larger budget never costs more time.

namespace recut {
namespace {

constexpr int kCoarsePoints = 8;
constexpr double kCoarseEffort = 0.2;  // of one plan's default effort, for each coarse point
constexpr double kPointEffort = 0.2;   // for each point
// Of these, without a boundary: there the default effort is for annealing to one budget, and a
// curve anneals to many.
constexpr double kFreeOrderEffort = 0.05;

double curve_effort(const RematProblem& problem, double effort) {
  return problem.boundary() < 0 ? kFreeOrderEffort * effort : effort;
}

CurvePoint point_of(const Replay& replay, Fusion fusion) {
  CurvePoint point;
  point.fusion = fusion;
  point.budget_bytes = replay.peak_bytes;
  point.peak_bytes = replay.peak_bytes;
  point.saved_bytes = replay.saved_bytes;
  point.step_us = replay.step_us;
  point.recompute_us = replay.recompute_us;
  point.recomputed_runs = static_cast<std::int64_t>(replay.recomputed.size());
  return point;
}

bool costs_more(const CurvePoint& a, const CurvePoint& b) {
  return a.step_us > b.step_us || (a.fusion == b.fusion && a.recompute_us > b.recompute_us);
}

peak::SweepOptions sweep_options(const RematProblem& problem, const CurveRequest& request,
                                 double effort) {
  peak::SweepOptions options;
  options.seed = request.seed;
  options.effort = peak::default_effort(problem, effort * request.effort);
  options.cancel = request.cancel;
  options.stop = request.stop;
  return options;
}

// The largest budget of a forward graph is the peak of the order that needs no recomputation.
JointProblem problem_of(const Graph& graph, const CurveRequest& request, const KernelModel& kernels,
                        const CostModel& costs, const Overrides& overrides) {
  JointProblem joint(graph, kernels.storages, costs.device.rates, overrides, kernels.groups);
  if (!is_joint(graph))
    joint.set_order(
        peak::least_peak_order(joint.problem(), sweep_options(joint.problem(), request, 1)));
  return joint;
}

}  // namespace

std::vector<std::int64_t> evenly_spaced_budgets(std::int64_t min_bytes, std::int64_t max_bytes,
                                                std::size_t count) {
  if (min_bytes >= max_bytes) return {max_bytes};
  const auto gaps = static_cast<std::int64_t>(count) - 1;
  const std::int64_t step = (max_bytes - min_bytes) / gaps, rest = (max_bytes - min_bytes) % gaps;
  std::vector<std::int64_t> budgets;
  for (std::int64_t k = 0; k <= gaps; ++k)
    budgets.push_back(min_bytes + step * k + rest * k / gaps);
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  return budgets;
}

BudgetCurve::BudgetCurve(const Graph& graph, const CurveRequest& request, const CostModel& costs,
                         const Overrides& overrides)
    : graph_(graph),
      request_(request),
      costs_(costs),
      kernels_(costs.kernels(graph)),
      joint_(problem_of(graph, request, kernels_, costs, overrides)),
      bound_(peak::peak_bound(problem(), peak::SolveOptions().bound_states)),
      max_peak_(peak::peak_of(problem(), problem().order)),
      min_peak_(max_peak_) {}

double BudgetCurve::once_us() const {
  return joint_.micros(problem().total_duration() - joint_.forced_duration());
}

bool BudgetCurve::cancelled() const {
  return (request_.cancel != nullptr && request_.cancel->load()) ||
         (request_.stop && request_.stop());
}

peak::SweepOptions BudgetCurve::options(double effort) const {
  return sweep_options(problem(), request_, effort);
}

void BudgetCurve::coarse(const Publish& publish) {
  const auto budgets = evenly_spaced_budgets(bound_, max_peak_, kCoarsePoints);
  Sequence start = problem().order;
  for (std::size_t k = budgets.size(); k-- > kCoarsePoints / 4 && !cancelled();) {
    peak::SolveOptions each = options(curve_effort(problem(), kCoarseEffort));
    each.warm_start = start;
    peak::Outcome found = peak::search(problem(), budgets[k], each);
    if (!found.holds) break;
    start = found.sequence;
    add_smallest_budget(budgets[k], std::move(found));
    publish();
  }
  if (known_.empty()) known_.push_back(problem().order);
  min_peak_ = peak::peak_of(problem(), known_.front());
}

void BudgetCurve::add_smallest_budget(std::int64_t budget, peak::Outcome found) {
  known_.insert(known_.begin(), found.sequence);
  budgets_.insert(budgets_.begin(), budget);
  outcomes_.insert(outcomes_.begin(), std::move(found));
}

void BudgetCurve::drop_smallest_budget() {
  known_.erase(known_.begin());
  budgets_.erase(budgets_.begin());
  outcomes_.erase(outcomes_.begin());
}

void BudgetCurve::find_min_peak() {
  if (cancelled()) return;
  peak::SolveOptions all = options(1);
  all.bound_steps = 0;
  peak::Outcome found = peak::solve_min_peak(problem(), all);
  min_peak_ = found.peak;
  while (!outcomes_.empty() && outcomes_.front().peak < min_peak_) drop_smallest_budget();
  if (!budgets_.empty() && budgets_.front() <= min_peak_) return;
  found.holds = true;
  add_smallest_budget(min_peak_, std::move(found));
}

void BudgetCurve::refine(std::vector<std::int64_t> budgets, const Publish& publish) {
  budgets_ = std::move(budgets);
  const double effort = kPointEffort * static_cast<double>(budgets_.size());
  peak::SweepOptions all = options(curve_effort(problem(), effort));
  all.warm_starts = known_;
  all.on_curve = [&](const std::vector<peak::Outcome>& outcomes) {
    outcomes_.assign(outcomes.rbegin(), outcomes.rend());
    publish();
  };
  outcomes_ = peak::sweep(problem(), budgets_, all);
}

void BudgetCurve::add_points(Curve& curve) {
  std::vector<Measured> measured;
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    const peak::Outcome& outcome = outcomes_[i];
    if (!outcome.holds) continue;
    measured.push_back(measure(outcome));
    Plan plan = measured.back().plan;
    CurvePoint point = measured.back().point;
    // The solver rounds durations to units of time: a rounding difference must not make a larger
    // budget cost more than a smaller one.
    if (!curve.plans.empty() && costs_more(point, curve.report.points.back())) {
      plan = curve.plans.back();
      point = curve.report.points.back();
    }
    const bool own = point.fusion == costs_.fusion;  // the bounds are of these kernels
    point.budget_bytes = budgets_[i];
    point.recompute_bound_us =
        own ? joint_.micros(outcome.overhead_bound + joint_.forced_duration()) : 0;
    point.optimal = own && outcome.optimal;
    curve.report.points.push_back(point);
    curve.plans.push_back(std::move(plan));
  }
  measured_ = std::move(measured);
}

BudgetCurve::Measured BudgetCurve::measure(const peak::Outcome& outcome) const {
  const auto old = std::find_if(measured_.begin(), measured_.end(),
                                [&](const Measured& m) { return m.sequence == outcome.sequence; });
  if (old != measured_.end()) return *old;
  Plan plan = joint_.plan(outcome.sequence);
  const auto point = measure(plan);
  RECUT_CHECK(point.has_value(), "a plan of the curve doesn't replay");
  // The replay can peak lower only with a forced recomputation: the problem has its two runs as two
  // values, and may keep the first for a reader that reads the second in the plan.
  RECUT_CHECK(point->peak_bytes == outcome.peak ||
                  (has_overrides(graph_, request_.overrides) && point->peak_bytes < outcome.peak),
              "a plan doesn't peak where it should");
  return {outcome.sequence, std::move(plan), *point};
}

std::optional<CurvePoint> BudgetCurve::measure_eager(const Plan& plan) const {
  if (!kernels_.groups.fused()) return measure(plan);
  return measure(plan_from_saved(graph_, kernels_.storages, kernels_.groups, plan.saved));
}

std::optional<CurvePoint> BudgetCurve::measure(const Plan& plan) const {
  const auto replayed =
      replay(graph_, kernels_.storages, plan, costs_.device.rates, kernels_.groups);
  if (!replayed) return std::nullopt;
  return point_of(*replayed, costs_.fusion);
}

}  // namespace recut
