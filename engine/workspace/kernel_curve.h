// One part of a curve: plans for many budgets with the kernels of one model of cost.
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

// `count` budgets from `least` to `most`, both of them in it, none twice.
std::vector<std::int64_t> ladder(std::int64_t least, std::int64_t most, std::size_t count);

class KernelCurve {
 public:
  using Show = std::function<void()>;

  KernelCurve(const Graph& graph, const CurveRequest& request, const CostModel& costs,
              const Pins& pins);
  KernelCurve(const KernelCurve&) = delete;
  KernelCurve& operator=(const KernelCurve&) = delete;

  std::int64_t least() const { return least_; }  // the least peak that was found
  std::int64_t most() const { return most_; }    // the peak where nothing is recomputed but by hand
  std::int64_t bound() const { return bound_; }  // proved: no order of these kernels peaks below it
  double once_us() const;

  // A few points from the top down, each from the one above it, as long as they are easy to have.
  void coarse(const Show& show);

  // The very search with which a plan answers a budget that can't be held: the table begins at the
  // number that it would give, so that every budget of the table can be asked for.
  void find_least();

  // In place of all points so far: one for each of these budgets, which rise.
  void refine(std::vector<std::int64_t> budgets, const Show& show);

  // Adds them to the curve's part below. Replays every plan that is new; what holds nothing yet is
  // left out.
  void add_points(Curve& curve);

  // The point of a plan that somebody else made, call by call; nothing where it can't run. Its
  // saved values are kept, where its kernels are these.
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
  std::vector<Measured> measured_;       // of those that hold
};

}  // namespace recut
