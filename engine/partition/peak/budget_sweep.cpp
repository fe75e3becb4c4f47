#include <algorithm>
#include <chrono>
#include <numeric>

#include "engine/partition/peak/bounds.h"
#include "engine/partition/peak/greedy_remat.h"
#include "engine/partition/peak/neighbourhood_search.h"
#include "engine/partition/peak/solver.h"
#include "engine/partition/peak/trim_recomputes.h"
#include "engine/support/clock.h"

// The curve of peak against duration. Plans of neighbouring budgets resemble each other, so each is
// a warm start for its neighbours: a curve costs far less than as many separate searches. A bound
// on the overhead for a larger budget also holds for a smaller one, and is passed down.

namespace recut::peak {
namespace {

constexpr int kPasses = 2;
constexpr std::int64_t kFirstSearchShare = 2;  // the first searches get 1 / this of the effort

struct SweepPoint {
  std::int64_t budget;
  std::vector<std::int32_t> sequence;
  std::int64_t peak = 0, duration = 0;
  std::int64_t overhead_bound = 0;
  bool optimal = false;
  bool holds() const { return !sequence.empty(); }
};

class BudgetSweep {
 public:
  BudgetSweep(const RematProblem& p, std::vector<SweepPoint> points, const SweepOptions& options)
      : p_(p), points_(std::move(points)), options_(options), s_(p), began_(Clock::now()) {}

  void take_warm_starts() {
    for (const std::vector<std::int32_t>& sequence : options_.warm_starts) {
      s_.assign(sequence);
      for (std::size_t i = 0; i < points_.size() && s_.peak() <= points_[i].budget; ++i) offer(i);
    }
    s_.forget_log();
  }

  // One search for each point, coarse to fine: the whole curve shows early.
  void search_each_budget() {
    const auto n = static_cast<std::int64_t>(std::max<std::size_t>(1, points_.size()));
    for (const std::size_t i : coarse_first()) {
      if (spent()) return;
      search_point(i, options_.effort / (n * kFirstSearchShare));
      show();
    }
  }

  // A pass down adopts each larger neighbour's plan, reduced; a pass up each smaller neighbour's
  // plan, trimmed. Both then improve it for a share of the remaining effort.
  void passes() {
    for (int round = 0; round < kPasses && !spent(); ++round) {
      const auto points = static_cast<std::int64_t>(points_.size());
      pass((options_.effort - work()) / std::max<std::int64_t>(1, (kPasses - round) * points),
           round % 2 == 0, static_cast<std::uint64_t>(round));
      show();
    }
  }

  // A plan for a smaller budget holds a larger one: duration falls monotonically with the budget.
  void make_monotone() {
    for (std::size_t i = points_.size(); i-- > 1;)
      if (points_[i].holds() &&
          (!points_[i - 1].holds() || points_[i].duration < points_[i - 1].duration))
        take(i - 1, points_[i]);
  }

  void bound() {
    std::int64_t proved = 0;
    for (SweepPoint& point : points_) {
      const std::int64_t overhead = point.duration - p_.total_duration();
      if (!point.holds() || point.optimal) continue;
      if (overhead > proved && !cancelled()) {
        const auto steps = likely_bound_steps(p_, point.sequence, options_.bound_steps);
        proved = std::max(proved, overhead_bound(p_, point.budget, steps));
      }
      point.overhead_bound = std::min(proved, overhead);
      point.optimal = point.overhead_bound == overhead;
    }
  }

  std::vector<Outcome> outcomes(std::int64_t peak_bound) const {
    std::vector<Outcome> all;
    for (const SweepPoint& point : points_) {
      Outcome out;
      out.holds = point.holds();
      out.sequence = point.sequence;
      out.peak = point.peak;
      out.duration = point.duration;
      out.overhead = out.holds ? out.duration - p_.total_duration() : 0;
      out.peak_bound = peak_bound;
      out.overhead_bound = point.overhead_bound;
      out.optimal = out.holds ? point.optimal : point.budget < peak_bound;
      all.push_back(std::move(out));
    }
    return all;
  }

 private:
  // Indices of the ends, the middle, the quarters, and so on.
  std::vector<std::size_t> coarse_first() const {
    std::vector<std::size_t> order;
    if (points_.empty()) return order;
    const std::size_t last = points_.size() - 1;
    std::vector<bool> taken(points_.size(), false);
    std::size_t step = 1;
    while (step < last) step *= 2;
    for (; step > 0; step /= 2)
      for (std::size_t i = 0; i <= last + step - 1; i += step) {
        const std::size_t at = std::min(i, last);
        if (!taken[at]) order.push_back(at);
        taken[at] = true;
      }
    return order;
  }

  void search_point(std::size_t i, std::int64_t effort) {
    SolveOptions options = options_;
    options.effort = effort;
    options.on_progress = nullptr;
    options.bound_steps = 0;
    if (options.seconds > 0) options.seconds = std::max(1e-3, options.seconds - seconds());
    if (points_[i].holds()) options.warm_start = points_[i].sequence;
    const Outcome found = solve(p_, points_[i].budget, options);
    searched_ += found.effort;
    if (!found.holds) return;
    s_.assign(found.sequence);
    s_.forget_log();
    points_[i].optimal = found.optimal;
    offer(i);
  }

  void pass(std::int64_t share, bool down, std::uint64_t seed) {
    for (std::size_t k = 0; k < points_.size() && !spent(); ++k) {
      const std::size_t i = down ? k : points_.size() - 1 - k;
      SweepPoint& point = points_[i];
      if (k > 0) adopt(points_[down ? i - 1 : i + 1], i);
      if (!point.holds() || point.duration == p_.total_duration()) continue;
      s_.assign(point.sequence);
      s_.forget_log();
      NeighbourhoodSearch search(s_, point.budget, options_.seed + seed * 1000 + i);
      for (const std::int64_t until = s_.work() + share; s_.work() < until && !spent();)
        search.step();
      offer(i);
    }
  }

  void adopt(const SweepPoint& from, std::size_t i) {
    if (!from.holds()) return;
    s_.assign(from.sequence);
    s_.forget_log();
    GreedyParameters parameters;
    parameters.max_work = 10 * p_.size() + 100;
    if (!reduce_peak(s_, points_[i].budget, parameters)) return;
    trim(s_, points_[i].budget);
    offer(i);
  }

  void offer(std::size_t i) {
    SweepPoint& point = points_[i];
    if (s_.peak() > point.budget) return;
    if (point.holds() && point.duration <= s_.duration()) return;
    point.sequence = s_.computations();
    point.peak = s_.peak();
    point.duration = s_.duration();
  }

  void take(std::size_t i, const SweepPoint& from) {
    const std::int64_t budget = points_[i].budget;
    points_[i] = from;
    points_[i].budget = budget;
    points_[i].optimal = false;
  }

  void show() {
    make_monotone();
    if (options_.on_curve) options_.on_curve(outcomes(0));
  }

  std::int64_t work() const { return s_.work() + searched_; }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  bool cancelled() const { return options_.cancelled(); }
  bool spent() const {
    return work() >= options_.effort || cancelled() ||
           (options_.seconds > 0 && seconds() >= options_.seconds);
  }

  const RematProblem& p_;
  std::vector<SweepPoint> points_;  // largest budget first
  const SweepOptions& options_;
  Sequence s_;
  std::int64_t searched_ = 0;  // work of the separate solvers
  Clock::time_point began_;
};

}  // namespace

std::vector<Outcome> sweep(const RematProblem& problem, std::span<const std::int64_t> budgets,
                           const SweepOptions& options) {
  std::vector<std::size_t> by_budget(budgets.size());
  std::iota(by_budget.begin(), by_budget.end(), std::size_t{0});
  std::stable_sort(by_budget.begin(), by_budget.end(),
                   [&](std::size_t a, std::size_t b) { return budgets[a] > budgets[b]; });
  std::vector<SweepPoint> points;
  for (const std::size_t i : by_budget) points.push_back({budgets[i], {}});

  BudgetSweep budget_sweep(problem, std::move(points), options);
  budget_sweep.take_warm_starts();
  budget_sweep.search_each_budget();
  budget_sweep.passes();
  budget_sweep.make_monotone();
  std::int64_t peak_bound = 0;
  if (options.bound_steps > 0) {
    budget_sweep.bound();
    peak_bound = peak::peak_bound(problem, options.bound_states);
  }
  std::vector<Outcome> outcomes(budgets.size());
  std::vector<Outcome> found = budget_sweep.outcomes(peak_bound);
  for (std::size_t i = 0; i < found.size(); ++i) outcomes[by_budget[i]] = std::move(found[i]);
  return outcomes;
}

}  // namespace recut::peak
