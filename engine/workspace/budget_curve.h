// One part of a trade-off curve: plans for many budgets, with the kernels of one cost model.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/fusion/kernel_model.h"
#include "engine/partition/overrides.h"
#include "engine/partition/peak/solver.h"
#include "engine/partition/problem/joint_problem.h"
#include "engine/workspace/curve.h"

namespace recut {

// `count` budgets from `min_bytes` to `max_bytes`, both included, without duplicates.
std::vector<std::int64_t> evenly_spaced_budgets(std::int64_t min_bytes, std::int64_t max_bytes,
                                                std::size_t count);

class BudgetCurve {
 public:
  using Publish = std::function<void()>;

  BudgetCurve(const Graph& graph, const CurveRequest& request, const CostModel& costs,
              const Overrides& overrides);
  BudgetCurve(const BudgetCurve&) = delete;
  BudgetCurve& operator=(const BudgetCurve&) = delete;

  std::int64_t min_peak() const { return min_peak_; }  // the minimum peak found
  std::int64_t max_peak() const {
    return max_peak_;
  }                                              // the peak without recomputation but for overrides
  std::int64_t bound() const { return bound_; }  // proved: no order of these kernels peaks below it
  double once_us() const;

  // A few points from the largest budget down, each warm-started by the one above, until one fails.
  void coarse(const Publish& publish);

  // Runs the same minimum-peak search as planning an infeasible budget: the curve then begins at
  // the number that planning reports, and every budget on the curve can be planned.
  void find_min_peak();

  // Replaces all points by one for each of these ascending budgets.
  void refine(std::vector<std::int64_t> budgets, const Publish& publish);

  // Appends the points to the curve. Replays every new plan; skips budgets without a plan.
  void add_points(Curve& curve);

  // The point of an eager plan from elsewhere (PyTorch); nothing if it can't run. In the fused
  // model its saved values are kept.
  std::optional<CurvePoint> measure_eager(const Plan& plan) const;

 private:
  using Sequence = std::vector<std::int32_t>;
  struct Measured {
    Sequence sequence;
    Plan plan;
    CurvePoint point;
  };

  const RematProblem& problem() const { return joint_.problem(); }
  bool cancelled() const;
  peak::SweepOptions options(double effort) const;
  void add_smallest_budget(std::int64_t budget, peak::Outcome found);
  void drop_smallest_budget();
  Measured measure(const peak::Outcome& outcome) const;
  std::optional<CurvePoint> measure(const Plan& plan) const;

  const Graph& graph_;
  const CurveRequest& request_;
  const CostModel costs_;
  const KernelModel kernels_;
  const JointProblem joint_;
  const std::int64_t bound_, max_peak_;
  std::int64_t min_peak_;
  std::vector<Sequence> known_;
  std::vector<std::int64_t> budgets_;    // ascending
  std::vector<peak::Outcome> outcomes_;  // of budgets_
  std::vector<Measured> measured_;       // of the feasible ones
};

}  // namespace recut
