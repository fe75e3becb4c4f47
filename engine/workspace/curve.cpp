#include "engine/workspace/curve.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/partition/peak/bounds.h"
#include "engine/partition/peak/solver.h"
#include "engine/partition/problem/joint_problem.h"
#include "engine/partition/replay.h"
#include "engine/partition/strategy.h"
#include "engine/partition/torch_partition.h"

namespace recut {
namespace {

using Clock = std::chrono::steady_clock;
using Sequence = std::vector<std::int32_t>;

constexpr int kCoarsePoints = 8;
constexpr double kCoarseEffort = 0.1;      // of one plan's usual effort, for each coarse point
constexpr double kPointEffort = 0.1;       // for each point
constexpr double kMostShownPerSecond = 8;  // each showing replays what is new
constexpr double kTorchFractions[] = {1, 0.9, 0.75, 0.5, 0.35, 0.2, 0.1, 0};

double ms_since(Clock::time_point began) {
  return std::chrono::duration<double, std::milli>(Clock::now() - began).count();
}

CurvePoint point_of(const Replay& replay) {
  CurvePoint point;
  point.budget_bytes = replay.peak_bytes;
  point.peak_bytes = replay.peak_bytes;
  point.saved_bytes = replay.saved_bytes;
  point.step_us = replay.step_us;
  point.recompute_us = replay.recompute_us;
  point.recomputed_runs = static_cast<std::int64_t>(replay.recomputed.size());
  return point;
}

// `count` budgets from `least` to `most`, both of them in it, none twice.
std::vector<std::int64_t> ladder(std::int64_t least, std::int64_t most, std::size_t count) {
  if (least >= most) return {most};
  const auto gaps = static_cast<std::int64_t>(count) - 1;
  const std::int64_t step = (most - least) / gaps, rest = (most - least) % gaps;
  std::vector<std::int64_t> budgets;
  for (std::int64_t k = 0; k <= gaps; ++k) budgets.push_back(least + step * k + rest * k / gaps);
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  return budgets;
}

class CurveMaker {
 public:
  CurveMaker(const Document& document, const CurveRequest& request, const CostModel& costs,
             const Pins& pins)
      : document_(document),
        graph_(document.graph()),
        request_(request),
        storages_(graph_),
        rates_(costs.device.rates),
        fusion_(costs.fusion),
        groups_(costs.groups(graph_, storages_)),
        joint_(graph_, storages_, rates_, pins, groups_),
        began_(Clock::now()) {}

  Curve make(const Unplanned& unplanned) {
    describe(unplanned);
    coarse();
    curve_.report.first_ms = ms_since(began_);
    const Clock::time_point solved = Clock::now();
    add_torch();
    const double torch_ms = ms_since(solved);
    find_least();
    refine();
    curve_.report.solve_ms = ms_since(began_) - torch_ms;
    const auto points = static_cast<double>(curve_.report.points.size());
    for (CurvePoint& point : curve_.report.points)
      point.solve_ms = curve_.report.solve_ms / std::max(1.0, points);
    curve_.report.complete = !cancelled();
    return std::move(curve_);
  }

 private:
  const Problem& problem() const { return joint_.problem(); }
  bool cancelled() const {
    return (request_.cancel != nullptr && request_.cancel->load()) ||
           (request_.stop && request_.stop());
  }

  void describe(const Unplanned& unplanned) {
    CurveReport& report = curve_.report;
    report.model = document_.file.model.empty() ? graph_.name : document_.file.model;
    report.graph_key = document_.file.key;
    report.nodes = static_cast<std::int64_t>(graph_.order().size());
    report.peak_bytes_unplanned = unplanned.peak_bytes;
    report.step_us_unplanned = unplanned.step_us;
    report.once_us = joint_.micros(problem().total_duration() - joint_.pinned_duration());
    report.peak_bound_bytes = peak::peak_bound(problem(), peak::SolveOptions().bound_states);
    most_ = peak::peak_of(problem(), problem().order);
  }

  // What the file records is of the graph joint_after_passes as it stands there.
  void add_torch() {
    const GraphFile& file = document_.file;
    if (file.key == "joint_after_passes" && document_.passes.passes.empty())
      for (const TorchPartition& partition : file.partitions)
        if (partition.budget && !partition.saved.empty())
          add_torch(plan_of(graph_, partition), *partition.budget, partition.seconds * 1e3);
    curve_.report.torch_recorded = !curve_.report.torch.empty();
    if (curve_.report.torch_recorded) return;
    for (const double fraction : kTorchFractions) {
      if (cancelled()) return;
      const Clock::time_point began = Clock::now();
      const auto outcome = make_plan(graph_, {"torch", SavedFraction{fraction}, rates_});
      if (outcome) add_torch(outcome->plan, fraction, ms_since(began));
    }
  }

  void add_torch(const Plan& plan, double fraction, double solve_ms) {
    const auto replayed = replay(graph_, storages_, plan, rates_, groups_);
    if (!replayed) return;  // a file may record a partition that can't run
    CurvePoint point = point_of(*replayed);
    point.fraction = fraction;
    point.solve_ms = solve_ms;
    curve_.report.torch.push_back(point);
  }

  peak::SweepOptions options(double effort) const {
    peak::SweepOptions options;
    options.seed = request_.seed;
    options.effort = peak::default_effort(problem(), effort * request_.effort);
    options.cancel = request_.cancel;
    options.stop = request_.stop;
    return options;
  }

  // A few points from the top down, each from the one above it, as long as they are easy to have.
  void coarse() {
    const auto budgets = ladder(curve_.report.peak_bound_bytes, most_, kCoarsePoints);
    Sequence start = problem().order;
    for (std::size_t k = budgets.size(); k-- > kCoarsePoints / 4 && !cancelled();) {
      peak::SolveOptions each = options(kCoarseEffort);
      each.start = start;
      peak::Outcome found = peak::search(problem(), budgets[k], each);
      if (!found.holds) break;
      start = found.sequence;
      add_lowest(budgets[k], std::move(found));
    }
    if (known_.empty()) known_.push_back(problem().order);
    least_ = peak::peak_of(problem(), known_.front());
  }

  void add_lowest(std::int64_t budget, peak::Outcome found) {
    known_.insert(known_.begin(), found.sequence);
    budgets_.insert(budgets_.begin(), budget);
    outcomes_.insert(outcomes_.begin(), std::move(found));
    show();
  }

  // The very search with which a plan answers a budget that can't be held: the table begins at the
  // number that it would give, so that every budget of the table can be asked for.
  void find_least() {
    if (cancelled()) return;
    peak::SolveOptions all = options(1);
    all.bound_moments = 0;
    peak::Outcome found = peak::least_peak(problem(), all);
    least_ = found.peak;
    while (!outcomes_.empty() && outcomes_.front().peak < least_) drop_lowest();
    if (!budgets_.empty() && budgets_.front() <= least_) return;
    found.holds = true;
    add_lowest(least_, std::move(found));
  }

  void drop_lowest() {
    known_.erase(known_.begin());
    budgets_.erase(budgets_.begin());
    outcomes_.erase(outcomes_.begin());
  }

  void refine() {
    budgets_ = ladder(least_, most_, request_.points);
    peak::SweepOptions all = options(kPointEffort * static_cast<double>(budgets_.size()));
    all.known = known_;
    all.on_curve = [&](const std::vector<peak::Outcome>& outcomes) {
      outcomes_.assign(outcomes.rbegin(), outcomes.rend());
      if (ms_since(shown_) * kMostShownPerSecond >= 1000) show();
    };
    outcomes_ = peak::sweep(problem(), budgets_, all);
    take_points();
  }

  void show() {
    if (!request_.on_curve) return;
    take_points();
    curve_.report.solve_ms = ms_since(began_);
    request_.on_curve(curve_);
    shown_ = Clock::now();
  }

  // Replays every plan that is new; what holds nothing yet is left out.
  void take_points() {
    std::vector<Measured> measured;
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      const peak::Outcome& outcome = outcomes_[i];
      if (!outcome.holds) continue;
      const auto old = std::find_if(measured_.begin(), measured_.end(), [&](const Measured& m) {
        return m.sequence == outcome.sequence;
      });
      Measured own = old != measured_.end() ? *old : measure(outcome);
      // The solver counts in whole units of time; a last bit of difference is no reason to cost
      // more than the smaller budget.
      const bool dearer = !measured.empty() && own.costs_more_than(measured.back());
      measured.push_back(dearer ? measured.back() : std::move(own));
      CurvePoint& point = measured.back().point;
      point.budget_bytes = budgets_[i];
      point.recompute_bound_us = joint_.micros(outcome.extra_bound + joint_.pinned_duration());
      point.optimal = outcome.optimal;
    }
    measured_ = std::move(measured);
    curve_.report.points.clear();
    curve_.plans.clear();
    for (const Measured& m : measured_) {
      curve_.report.points.push_back(m.point);
      curve_.plans.push_back(m.plan);
    }
  }

  struct Measured {
    Sequence sequence;
    Plan plan;
    CurvePoint point;

    bool costs_more_than(const Measured& other) const {
      return point.step_us > other.point.step_us || point.recompute_us > other.point.recompute_us;
    }
  };

  Measured measure(const peak::Outcome& outcome) const {
    Measured measured{outcome.sequence, joint_.plan(outcome.sequence), {}};
    const auto replayed = replay(graph_, storages_, measured.plan, rates_, groups_);
    RECUT_CHECK(replayed.ok(), "a plan of the curve doesn't replay");
    // Below it only where a value is pinned to be recomputed: the problem then knows its two runs
    // as two values, and may keep the first for a reader that in the plan reads the second.
    RECUT_CHECK(replayed->peak_bytes == outcome.peak ||
                    (!request_.choices.empty() && replayed->peak_bytes < outcome.peak),
                "a plan doesn't peak where it should");
    measured.point = point_of(*replayed);
    measured.point.fusion = fusion_;
    return measured;
  }

  const Document& document_;
  const Graph& graph_;
  const CurveRequest& request_;
  const StorageModel storages_;
  const DeviceRates rates_;
  const Fusion fusion_;
  const FusionGroups groups_;
  const JointProblem joint_;
  const Clock::time_point began_;
  Clock::time_point shown_;
  Curve curve_;
  std::int64_t least_ = 0;  // the least peak that was found
  std::int64_t most_ = 0;   // the peak where nothing is recomputed but by hand
  std::vector<Sequence> known_;
  std::vector<std::int64_t> budgets_;    // ascending
  std::vector<peak::Outcome> outcomes_;  // of budgets_
  std::vector<Measured> measured_;
};

}  // namespace

const CurvePoint* CurveReport::cheapest_within(std::int64_t peak_bytes) const {
  const CurvePoint* best = nullptr;
  for (const CurvePoint& point : points)
    if (point.peak_bytes <= peak_bytes) best = &point;
  return best;
}

Result<Curve> sweep_document(const Document& document, const CurveRequest& request) {
  const auto costs =
      find_cost_model(document.graph(), request.profile, request.device, request.cost_model);
  if (!costs) return costs.diagnostics();
  const auto unplanned = costs->unplanned(document.written(), document.graph());
  if (!unplanned) return unplanned.diagnostics();
  const auto choices = read_choices(document.graph(), request.choices);
  if (!choices) return choices.diagnostics();
  return CurveMaker(document, request, *costs, choices->pins()).make(*unplanned);
}

}  // namespace recut
