// One part of a trade-off curve: plans for many budgets, with the kernels of one cost model.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/fusion/kernel_model.h"
#include "engine/partition/peak/solver.h"
#include "engine/partition/pins.h"
#include "engine/partition/problem/joint_problem.h"
#include "engine/workspace/curve.h"

namespace recut {

// `count` budgets from `min_bytes` to `max_bytes`, both included, without duplicates.
std::vector<std::int64_t> ladder(std::int64_t least, std::int64_t most, std::size_t count);

class KernelCurve {
 public:
  using Show = std::function<void()>;

  KernelCurve(const Graph& graph, const CurveRequest& request, const CostModel& costs,
              const Pins& pins);
  KernelCurve(const KernelCurve&) = delete;
  KernelCurve& operator=(const KernelCurve&) = delete;

  std::int64_t least() const { return least_; }  // the minimum peak found
  std::int64_t most() const { return most_; }    // the peak without recomputation but for overrides
  std::int64_t bound() const { return bound_; }  // proved: no order of these kernels peaks below it
  double once_us() const;

  // A few points from the largest budget down, each warm-started by the one above, until one fails.
  void coarse(const Show& show);

  // Runs the same minimum-peak search as planning an infeasible budget: the curve then begins at
  // the number that planning reports, and every budget on the curve can be planned.
  void find_least();

  // Replaces all points by one for each of these ascending budgets.
  void refine(std::vector<std::int64_t> budgets, const Show& show);

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

  const Problem& problem() const { return joint_.problem(); }
  bool cancelled() const;
  peak::SweepOptions options(double effort) const;
  void add_lowest(std::int64_t budget, peak::Outcome found);
  void drop_lowest();
  Measured measure(const peak::Outcome& outcome) const;
  std::optional<CurvePoint> measure(const Plan& plan) const;

  const Graph& graph_;
  const CurveRequest& request_;
  const CostModel costs_;
  const KernelModel kernels_;
  const JointProblem joint_;
  const std::int64_t bound_, most_;
  std::int64_t least_;
  std::vector<Sequence> known_;
  std::vector<std::int64_t> budgets_;    // ascending
  std::vector<peak::Outcome> outcomes_;  // of budgets_
  std::vector<Measured> measured_;       // of the feasible ones
};

}  // namespace recut
