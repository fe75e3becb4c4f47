// Searches the minimum peak of a problem, in the order of cost: the program order; annealing to
// ever lower budgets, if the order is free; every initial solution, then plans of the DTR
// simulation, each lowered by greedy evictions in steps of a share of its peak; random descents; a
// polish of the best plan.
//
// The effort extends while the peak falls, and the search ends at the proved bound
// (pebbling_bound.h). Bisecting the budget with the ordinary solver would spend most of its effort
// on infeasible budgets, whose failure proves nothing.
#include "engine/partition/peak/min_peak.h"

#include <algorithm>
#include <utility>

#include "engine/partition/peak/bounds.h"
#include "engine/partition/peak/dtr_simulation.h"
#include "engine/partition/peak/greedy_remat.h"
#include "engine/partition/peak/initial_solutions.h"
#include "engine/partition/peak/neighbourhood_search.h"
#include "engine/partition/peak/peak_of.h"
#include "engine/partition/peak/search_clock.h"
#include "engine/partition/peak/simulated_annealing.h"
#include "engine/partition/peak/trim_recomputes.h"

namespace recut::peak {
namespace {

constexpr double kCoarse = 0.1;                        // of the peak: the first step down
constexpr double kFurtherSteps[] = {0.03, 0.2, 0.06};  // tried after the coarse one fails
constexpr double kPolish = 0.02;
constexpr double kQuickEffort = 2;       // times the effort
constexpr std::int64_t kTrimEvery = 20;  // trim after the peak fell by 1 / this
constexpr std::size_t kDtrPlansKept = 3;
// Work for each computation: of one step down, of a random descent, of annealing to one budget.
constexpr std::int64_t kFewRuns = 3, kManyRuns = 30;
constexpr std::int64_t kDescent = 40;
constexpr std::int64_t kTriesEach = 500;
constexpr int kSlices = 64;  // parts of the cooling schedule

struct BestPlan {
  std::vector<std::int32_t> sequence;
  std::int64_t peak = kNoBudget, duration = 0;
};

// A plan of the DTR simulation.
struct DtrPlan {
  std::vector<std::int32_t> sequence;
  std::int64_t peak;
  bool lowered = false;
};

class MinPeakSearch {
 public:
  MinPeakSearch(const RematProblem& problem, const SolveOptions& options, bool quick)
      : p_(problem),
        quick_(quick),
        s_(problem),
        clock_(options),
        options_(options),
        peak_bound_(peak_bound(problem, options.bound_states)),
        patience_((problem.boundary() < 0 ? 800.0 : 14000.0) / (600 + problem.size())),
        initials_(low_peak_initial_solutions(problem)) {}

  // Lowers plans of many kinds until each sticks: which one gets lowest isn't known beforehand, and
  // other step sizes make the same plan stick elsewhere.
  Outcome run() {
    build_initial_solution({}, s_, peak_bound_);
    keep_if_better();
    extend_effort();
    if (p_.boundary() < 0) anneal_down();
    lower_all_initial_solutions();
    if (!quick_) polish();
    Outcome out;
    out.sequence = best_.sequence;
    out.peak = best_.peak;
    out.duration = best_.duration;
    out.overhead = best_.duration - p_.total_duration();
    out.effort = s_.work();
    return out;
  }

 private:
  // The peak is within 1/2048 of the proved bound, or the effort is spent.
  bool done() const {
    return best_.peak <= peak_bound_ + peak_bound_ / 2048 || clock_.spent(s_.work());
  }

  // At least the quick search's effort: a full search passes through all of its plans.
  void extend_effort() {
    if (quick_) return clock_.allow(0, kQuickEffort);
    const auto least =
        static_cast<std::int64_t>(kQuickEffort * static_cast<double>(options_.effort));
    clock_.allow(std::max(s_.work(), least), patience_);
  }

  // A lower peak extends the effort.
  void keep_if_better() {
    if (s_.peak() > best_.peak || (s_.peak() == best_.peak && s_.duration() >= best_.duration))
      return;
    if (s_.peak() < best_.peak - best_.peak / 4096) extend_effort();
    best_ = {s_.computations(), s_.peak(), s_.duration()};
    clock_.report_progress({false, s_.peak(), s_.duration(), s_.work()});
  }

  // Without a boundary the order is free, and annealing finds plans that no initial solution leads
  // to: from the best plan to ever lower budgets, by steps that halve on failure.
  void anneal_down() {
    double step = kCoarse;
    for (std::uint64_t round = 0; step > kPolish / 4 && !done(); ++round) {
      const std::int64_t goal = below(best_.peak, step);
      SimulatedAnnealing annealer(p_, goal, best_.sequence, options_.seed + round);
      for (int i = 0; i < kSlices && !done(); ++i) {
        annealer.advance(kTriesEach * p_.size() / kSlices, static_cast<double>(i) / kSlices);
        s_.charge(kTriesEach * p_.size() / kSlices / kTriesPerWork);
      }
      if (done()) return;  // a longer search continues from another plan
      if (!annealer.holds()) {
        step /= 2;
        continue;
      }
      s_.assign(annealer.best());
      keep_if_better();
    }
  }

  // Lowers the initial solutions while that is cheap, then the plans of the DTR simulation. The
  // last steps down are expensive, and pay only for plans that got far.
  void lower_all_initial_solutions() {
    for (std::size_t i = 0; i < initials_.size(); ++i)
      lower_initial_solution(i, kCoarse, 1, kFewRuns);
    extend_effort();
    descend();
    for (const DtrHeuristic& heuristic : dtr_heuristics(p_)) {
      find_smallest_dtr_memory(heuristic);
      if (!dtr_plans_.empty() && !dtr_plans_.back().lowered)
        lower_dtr_plan(dtr_plans_.size() - 1, kCoarse);
    }
    for (std::size_t i = 0; i < dtr_plans_.size(); ++i)
      if (!dtr_plans_[i].lowered) lower_dtr_plan(i, kCoarse);
    for (const double step : kFurtherSteps)
      for (std::size_t i = 0; i < std::max(initials_.size(), dtr_plans_.size()); ++i) {
        lower_initial_solution(i, step, 2, kManyRuns);
        lower_dtr_plan(i, step);
      }
  }

  // Small greedy steps and random descents from the best plan, while they gain anything.
  void polish() {
    for (std::int64_t before = kNoBudget; best_.peak < before - before / 4096;) {
      before = best_.peak;
      clock_.allow(s_.work(), 0.5);
      s_.assign(best_.sequence);
      lower_stepwise(kPolish, 3, 2 * kManyRuns);
      descend();
    }
  }

  // Random moves from the best plan.
  void descend() {
    if (done()) return;
    s_.assign(best_.sequence);
    NeighbourhoodSearch search(s_, peak_bound_,
                               options_.seed + static_cast<std::uint64_t>(s_.work()));
    for (const std::int64_t until = s_.work() + kDescent * p_.size(); s_.work() < until && !done();)
      if (search.descend()) keep_if_better();
  }

  // Bisects for the smallest memory in which the DTR simulation completes. It keeps the last plans
  // on the way too: one of a little more memory often gets lower afterwards.
  void find_smallest_dtr_memory(const DtrHeuristic& heuristic) {
    std::vector<DtrPlan> found;
    std::int64_t low = peak_bound_, high = peak_of(p_, p_.order);
    while (high - low > high / 64 && !done()) {
      const std::int64_t budget = low + (high - low) / 2;
      std::int64_t work = 0;
      std::vector<std::int32_t> runs = simulate_dtr(p_, budget, heuristic, &work);
      s_.charge(work);
      const std::int64_t peak = runs.empty() ? kNoBudget : peak_of(p_, runs);
      if (peak > budget) {
        low = budget;
      } else {
        high = peak;
        found.push_back({std::move(runs), peak});
      }
    }
    const std::size_t skipped = std::max(found.size(), kDtrPlansKept) - kDtrPlansKept;
    for (std::size_t i = skipped; i < found.size(); ++i)
      if (is_new(found[i])) dtr_plans_.push_back(std::move(found[i]));
  }

  bool is_new(const DtrPlan& plan) const {
    return std::none_of(dtr_plans_.begin(), dtr_plans_.end(), [&](const DtrPlan& known) {
      return known.peak == plan.peak && known.sequence == plan.sequence;
    });
  }

  void lower_initial_solution(std::size_t i, double step, int failures, std::int64_t runs_each) {
    if (i >= initials_.size() || done()) return;
    if (initials_[i].kind == InitialSolution::kPrice) s_.charge(p_.size());
    build_initial_solution(initials_[i], s_, peak_bound_);
    lower_stepwise(step, failures, runs_each);
  }

  void lower_dtr_plan(std::size_t i, double step) {
    if (i >= dtr_plans_.size() || done()) return;
    dtr_plans_[i].lowered = true;
    s_.assign(dtr_plans_[i].sequence);
    trim(s_, s_.peak());
    lower_stepwise(step, 2, kManyRuns);
  }

  // Lowers the current sequence by steps of a share of its peak, halved on failure. A goal far
  // below the reachable peaks would make the greedy search recompute everything.
  void lower_stepwise(double step, int failures, std::int64_t runs_each) {
    s_.forget_log();
    keep_if_better();
    trimmed_at_ = s_.peak();
    while (failures > 0 && !done()) {
      if (lower(step, runs_each)) continue;
      step /= 2;
      --failures;
    }
    if (!done()) trim_and_keep();
  }

  void trim_and_keep() {
    trim(s_, s_.peak());
    trimmed_at_ = s_.peak();
    keep_if_better();
  }

  std::int64_t below(std::int64_t peak, double step) const {
    return std::max(peak_bound_,
                    peak - static_cast<std::int64_t>(step * static_cast<double>(peak)) - 1);
  }

  // True if the peak got lower, even if the goal wasn't reached.
  bool lower(double step, std::int64_t runs_each) {
    s_.forget_log();
    const std::int64_t peak = s_.peak();
    GreedyParameters parameters;
    parameters.max_input_cost = 2;
    parameters.max_work = runs_each * p_.size();
    reduce_peak(s_, below(peak, step), parameters);
    if (s_.peak() < peak) {
      // Trimming takes as long as lowering, so not after every small step.
      if (s_.peak() < trimmed_at_ - trimmed_at_ / kTrimEvery) trim_and_keep();
      return true;
    }
    s_.roll_back(0);
    return false;
  }

  const RematProblem& p_;
  const bool quick_;
  Sequence s_;
  SearchClock clock_;
  const SolveOptions& options_;
  std::int64_t peak_bound_;
  double patience_;              // share of the effort without a gain after which the search ends
  std::int64_t trimmed_at_ = 0;  // the peak at which the sequence was last trimmed
  std::vector<InitialSolution> initials_;
  std::vector<DtrPlan> dtr_plans_;
  BestPlan best_;
};

}  // namespace

Outcome min_peak(const RematProblem& problem, const SolveOptions& options, bool quick) {
  return MinPeakSearch(problem, options, quick).run();
}

}  // namespace recut::peak
