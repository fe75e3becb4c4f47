#include "engine/partition/peak/solver.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <tuple>
#include <utility>

#include "engine/partition/peak/bounds.h"
#include "engine/partition/peak/dtr_simulation.h"
#include "engine/partition/peak/exact_search.h"
#include "engine/partition/peak/greedy_remat.h"
#include "engine/partition/peak/initial_solutions.h"
#include "engine/partition/peak/min_peak.h"
#include "engine/partition/peak/neighbourhood_search.h"
#include "engine/partition/peak/search_clock.h"
#include "engine/partition/peak/simulated_annealing.h"
#include "engine/partition/peak/trim_recomputes.h"

// A budget is solved in four cases:
//
//   1. tiny problem          exact search (exact_search.h), done
//   2. budget < peak bound   proved infeasible: a quick search for the minimum peak
//   3. with a boundary       initial solutions, each reduced to the budget by greedy evictions and
//                            trimmed; a race of the shortest; neighbourhood search of the winner
//      without               simulated annealing, then neighbourhood search
//   4. nothing holds         DTR simulation; then the minimum peak, as a warm start if it holds
//
// Effort is counted in inserted or removed runs. Without a time limit a plan is the same on
// every machine. The overhead bound ends the search early where the relative gap is small.

namespace recut::peak {
namespace {

constexpr std::int64_t kTriesAtOnce = 5 * 512;
constexpr double kAnnealed = 0.9;         // of all effort; the rest is neighbourhood search
constexpr int kAnnealings = 3;            // rounds: from the order, then from the best plan
constexpr std::int64_t kTightEffort = 3;  // times the effort, where nothing holds the budget yet
constexpr std::int64_t kFew = 6, kMany = 60;  // work of an initial solution, for each computation
constexpr double kStarting = 0.4;             // of all effort: initial solutions, once one holds
constexpr std::ptrdiff_t kMaxLeaders = 6;
struct Round {
  std::size_t leaders;
  double share;  // of all effort, for all leaders
};
constexpr Round kRounds[] = {{6, 0.15}, {3, 0.2}};
constexpr CoolingSchedule kReheated{0.15, 0.01, 0.02, 10};

class BudgetSearch {
 public:
  BudgetSearch(const RematProblem& problem, std::int64_t budget, const SolveOptions& options)
      : p_(problem), budget_(budget), options_(options), s_(problem), clock_(options) {}

  void start();
  // Ends when the effort is spent, or the overhead is at most `target_overhead`.
  void improve(std::int64_t target_overhead);
  Outcome outcome();

  bool holds() const { return holds_; }
  std::int64_t overhead() const { return best_duration_ - p_.total_duration(); }
  const std::vector<std::int32_t>& best() const { return best_; }

 private:
  bool spent() const { return clock_.spent(s_.work()); }
  bool better(std::int64_t peak, std::int64_t duration) const;
  void take(std::vector<std::int32_t> sequence, std::int64_t peak, std::int64_t duration);
  void keep_if_better();  // keeps the sequence if it is the best so far
  bool cannot_improve() const { return holds_ && best_duration_ == p_.total_duration(); }
  void start_without_boundary();
  void start_with_boundary();
  std::int64_t share_of_effort(double share) const {
    return static_cast<std::int64_t>(share * static_cast<double>(options_.effort));
  }
  void improve_leaders();
  void add_leader();  // keeps the sequence among the shortest initial solutions
  void anneal();
  void repair(const std::vector<std::int32_t>& sequence);
  void cool(SimulatedAnnealing& annealer, double from, double to);
  void improve_for(std::int64_t work);
  void start_from_dtr();
  void try_initial_solution(const InitialSolution& start, const GreedyParameters& parameters);

  struct Leader {
    std::vector<std::int32_t> sequence;
    std::int64_t duration = 0;
  };

  const RematProblem& p_;
  std::int64_t budget_;
  const SolveOptions& options_;
  Sequence s_;
  SearchClock clock_;
  std::set<std::tuple<int, std::int64_t, std::vector<std::int32_t>>> tried_;  // as built
  std::vector<Leader> leaders_;  // the shortest initial solutions, shortest first
  bool holds_ = false;
  std::vector<std::int32_t> best_;
  std::int64_t best_peak_ = 0, best_duration_ = 0;
};

bool BudgetSearch::better(std::int64_t peak, std::int64_t duration) const {
  const bool fits = peak <= budget_;
  return best_.empty() || (fits && !holds_) || (fits && duration < best_duration_) ||
         (!fits && !holds_ && peak < best_peak_);
}

void BudgetSearch::take(std::vector<std::int32_t> sequence, std::int64_t peak,
                        std::int64_t duration) {
  holds_ = peak <= budget_;
  best_ = std::move(sequence);
  best_peak_ = peak;
  best_duration_ = duration;
  clock_.report_progress({holds_, best_peak_, best_duration_, s_.work()});
}

void BudgetSearch::keep_if_better() {
  if (better(s_.peak(), s_.duration())) take(s_.computations(), s_.peak(), s_.duration());
}

// Builds an initial solution and reduces its peak, unless the same plan was tried before.
void BudgetSearch::try_initial_solution(const InitialSolution& start,
                                        const GreedyParameters& parameters) {
  build_initial_solution(start, s_, budget_);
  // Different prices may give the same plan, and reducing the peak is the expensive part.
  if (!tried_.insert({parameters.exponent_quarters, parameters.max_work, s_.computations()}).second)
    return;
  const bool holds = reduce_peak(s_, budget_, parameters);
  if (holds) trim(s_, budget_);
  s_.forget_log();
  keep_if_better();
  if (holds) add_leader();
}

void BudgetSearch::start() {
  if (!options_.warm_start.empty()) {
    s_.assign(options_.warm_start);
    if (reduce_peak(s_, budget_, {})) trim(s_, budget_);
    keep_if_better();
  }
  if (budget_ < peak_bound(p_, 0)) return;  // a single step exceeds it
  if (p_.boundary() < 0) return start_without_boundary();
  start_with_boundary();
  improve_leaders();
}

// Tries each initial solution with little work, then with more if nothing holds yet.
void BudgetSearch::start_with_boundary() {
  const std::vector<InitialSolution> solutions = initial_solutions(p_);
  for (const std::int64_t each : {kFew, kMany}) {
    const std::int64_t until = s_.work() + share_of_effort(kStarting);
    int made = 0;
    for (const InitialSolution& start : solutions) {
      if (spent() || (s_.work() >= until && holds_)) break;
      GreedyParameters parameters;
      parameters.exponent_quarters = made++ % 2 == 0 ? 2 : 4;
      parameters.max_work = each * p_.size() + 100;
      if (start.kind == InitialSolution::kPrice) s_.charge(p_.size());
      try_initial_solution(start, parameters);
      if (cannot_improve()) return;
    }
    if (each == kFew && !holds_) clock_.allow(s_.work(), kTightEffort);
    if (!holds_) start_from_dtr();
    if (holds_ || spent()) return;
  }
}

// A race: which initial solution leads furthest shows only under improvement. The shortest six get
// a little effort, the best three of these get more.
void BudgetSearch::improve_leaders() {
  for (const Round& round : kRounds) {
    std::vector<Leader> leaders = std::exchange(leaders_, {});
    leaders.resize(std::min(leaders.size(), round.leaders));
    for (const Leader& leader : leaders) {
      if (spent() || cannot_improve()) return;
      s_.assign(leader.sequence);
      improve_for(share_of_effort(round.share) / static_cast<std::int64_t>(round.leaders));
      add_leader();
    }
  }
}

void BudgetSearch::add_leader() {
  const auto rank = std::upper_bound(
      leaders_.begin(), leaders_.end(), s_.duration(),
      [](std::int64_t duration, const Leader& each) { return duration < each.duration; });
  if (rank - leaders_.begin() >= kMaxLeaders) return;
  leaders_.insert(rank, {s_.computations(), s_.duration()});
  if (leaders_.size() > kMaxLeaders) leaders_.pop_back();
}

// Improves the current plan, which holds the budget, for some effort.
void BudgetSearch::improve_for(std::int64_t work) {
  s_.forget_log();
  NeighbourhoodSearch neighbourhood(s_, budget_,
                                    options_.seed + static_cast<std::uint64_t>(s_.work()));
  for (const std::int64_t until = s_.work() + work; s_.work() < until && !spent();)
    if (neighbourhood.step()) keep_if_better();
}

// Without a boundary the program order is the only initial solution: a greedy plan at once, for
// impatient callers, then annealing of order and recomputation together.
void BudgetSearch::start_without_boundary() {
  GreedyParameters parameters;
  parameters.max_work = 6 * p_.size() + 100;
  try_initial_solution({InitialSolution::kReordered, 0, 0, 0}, parameters);
  if (spent() || cannot_improve()) return;
  anneal();
  if (!holds_) start_from_dtr();
}

// Anneals from the problem's order, then reheats the best plan to a lower temperature: a later
// round may undo early moves of the first. A round that ends above the budget isn't continued.
void BudgetSearch::anneal() {
  const double begin = clock_.share(s_.work());
  if (begin >= kAnnealed) return;
  bool good = holds_ && !options_.warm_start.empty();
  for (int round = 0; round < kAnnealings && !spent() && !cannot_improve(); ++round) {
    SimulatedAnnealing annealer(p_, budget_, good ? best_ : p_.order,
                                options_.seed + static_cast<std::uint64_t>(round),
                                good ? kReheated : CoolingSchedule{});
    cool(annealer, begin + (kAnnealed - begin) * round / kAnnealings,
         begin + (kAnnealed - begin) * (round + 1) / kAnnealings);
    good = good || annealer.holds();
    if (!holds_) repair(annealer.timeline().computations());
  }
}

// Reduces the peak of a plan that is a little above the budget.
void BudgetSearch::repair(const std::vector<std::int32_t>& sequence) {
  s_.assign(sequence);
  GreedyParameters parameters;
  parameters.max_work = 20 * p_.size() + 100;
  if (reduce_peak(s_, budget_, parameters)) trim(s_, budget_);
  s_.forget_log();
  keep_if_better();
}

// Runs the cooling schedule from one share of the effort to another.
void BudgetSearch::cool(SimulatedAnnealing& annealer, double from, double to) {
  while (!spent() && !cannot_improve()) {
    const double progress = (clock_.share(s_.work()) - from) / (to - from);
    if (progress >= 1) return;
    if (annealer.advance(kTriesAtOnce, std::max(0.0, progress)) &&
        better(annealer.best_peak(), annealer.best_duration()))
      take(annealer.best(), annealer.best_peak(), annealer.best_duration());
    s_.charge(kTriesAtOnce / kTriesPerWork);
  }
}

// If no initial solution reaches the budget: DTR simulations in a memory of that size.
void BudgetSearch::start_from_dtr() {
  for (const DtrHeuristic& heuristic : dtr_heuristics(p_)) {
    if (holds_ || spent()) return;
    std::int64_t work = 0;
    const std::vector<std::int32_t> runs = simulate_dtr(p_, budget_, heuristic, &work);
    s_.charge(work);
    if (runs.empty()) continue;
    s_.assign(runs);
    if (s_.peak() <= budget_) trim(s_, budget_);
    s_.forget_log();
    keep_if_better();
  }
}

void BudgetSearch::improve(std::int64_t target_overhead) {
  if (best_.empty()) {
    build_initial_solution({}, s_, budget_);
    keep_if_better();
  }
  s_.assign(best_);
  s_.forget_log();
  NeighbourhoodSearch neighbourhood(s_, budget_, options_.seed);
  while (!spent() && !cannot_improve() && !(holds_ && overhead() <= target_overhead)) {
    if (holds_ ? neighbourhood.step() : neighbourhood.descend()) keep_if_better();
  }
}

Outcome BudgetSearch::outcome() {
  Outcome out;
  out.holds = holds_;
  out.sequence = best_;
  out.peak = best_peak_;
  out.duration = best_duration_;
  out.overhead = best_duration_ - p_.total_duration();
  out.effort = s_.work();
  return out;
}

// Solves tiny problems exactly, with proof; false for others.
bool solve_exactly(const RematProblem& p, std::int64_t budget, Outcome& out) {
  if (p.size() > 14 || p.storages() > 16) return false;
  constexpr std::size_t kStates = 60'000;
  bool exhausted = false;
  auto best = exact_duration(p, budget, kStates, &exhausted);
  out.holds = best.has_value();
  if (!best && exhausted) best = exact_peak(p, kStates, &exhausted);
  if (!best) return false;
  Sequence s(p);
  s.assign(best->sequence);
  out.sequence = best->sequence;
  out.peak = s.peak();
  out.duration = s.duration();
  out.overhead = out.duration - p.total_duration();
  out.effort = s.work();
  out.optimal = true;
  if (out.holds) {
    out.overhead_bound = out.overhead;
    out.peak_bound = peak_bound(p, kStates);
  } else {
    out.peak_bound = out.peak;
  }
  return true;
}

// Computes the bound as soon as there is a good plan: within the relative gap, the search ends.
Outcome search_with_bound(const RematProblem& p, std::int64_t budget, const SolveOptions& options) {
  BudgetSearch search(p, budget, options);
  const auto bound_now = [&]() -> std::int64_t {
    if (options.bound_steps == 0 || !search.holds() || search.overhead() == 0) return 0;
    return overhead_bound(p, budget, likely_bound_steps(p, search.best(), options.bound_steps));
  };
  search.start();
  const bool early = search.holds();
  std::int64_t bound = bound_now();
  search.improve(
      static_cast<std::int64_t>(static_cast<double>(bound) * (1 + options.relative_gap)));
  if (!early) bound = bound_now();
  Outcome out = search.outcome();
  if (!out.holds) return out;
  out.overhead_bound = std::min(out.overhead, bound);
  out.optimal = out.overhead == out.overhead_bound;
  return out;
}

// For a `found` that isn't within the budget. The minimum peak in the report must hold if it is
// requested as a budget, so it can't depend on this budget, unless time is limited.
Outcome search_from_min_peak(const RematProblem& p, std::int64_t budget,
                             const SolveOptions& options, Outcome found) {
  Outcome out = min_peak(p, options, false);
  const std::int64_t spent = found.effort + out.effort;
  if (out.peak <= budget) {
    SolveOptions from_min_peak = options;
    const std::vector<std::int32_t> least = std::move(out.sequence);
    from_min_peak.effort = std::min(options.effort, kNoBudget / kTightEffort) * kTightEffort;
    from_min_peak.warm_start = least;
    out = search_with_bound(p, budget, from_min_peak);
    out.effort += spent;
    return out;
  }
  if (options.seconds > 0 && found.peak < out.peak) out = std::move(found);
  out.effort = spent;
  return out;
}

}  // namespace

std::int64_t default_effort(const RematProblem& problem, double factor) {
  // Small problems get many tries. Without a boundary annealing does the work, and takes longer.
  const bool free = problem.boundary() < 0;
  const double n = problem.size();
  const double effort =
      factor * (free ? 300'000 + 800 * n : 60'000 + 40 * n + 55 * std::max(0.0, n - 1000));
  return static_cast<std::int64_t>(std::clamp(effort, 1.0, 1e15));
}

double default_relative_gap(double factor) { return 0.005 / std::max(factor, 0.1); }

Outcome search(const RematProblem& problem, std::int64_t budget, const SolveOptions& options) {
  BudgetSearch search(problem, budget, options);
  search.start();
  search.improve(0);
  return search.outcome();
}

Outcome solve(const RematProblem& problem, std::int64_t budget, const SolveOptions& options) {
  Outcome out;
  if (solve_exactly(problem, budget, out)) return out;
  const auto began = std::chrono::steady_clock::now();
  // The time limit is for all searches together, and each leaves a share to the next.
  const auto in_time = [&](SolveOptions each, double share) {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
    if (each.seconds > 0) each.seconds = std::max(1e-3, share * (options.seconds - taken.count()));
    return each;
  };
  const std::int64_t bound = peak_bound(problem, options.bound_states);
  if (budget < bound) {
    // Proved infeasible: only a quick search, for a plan to report.
    out = min_peak(problem, in_time(options, 0.5), true);
    out.short_search = true;
  } else {
    out = search_with_bound(problem, budget, in_time(options, 0.4));
    if (!out.holds)
      out = search_from_min_peak(problem, budget, in_time(options, 0.7), std::move(out));
  }
  out.peak_bound = bound;
  if (!out.holds) out.optimal = out.peak <= bound;
  return out;
}

Outcome solve_min_peak(const RematProblem& problem, const SolveOptions& options) {
  Outcome out;
  if (solve_exactly(problem, 0, out)) return out;
  out = min_peak(problem, options, false);
  out.peak_bound = peak_bound(problem, options.bound_states);
  out.optimal = out.peak <= out.peak_bound;
  return out;
}

}  // namespace recut::peak
