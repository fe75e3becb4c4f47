#include "engine/partition/peak/solver.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <tuple>

#include "engine/partition/peak/anneal.h"
#include "engine/partition/peak/bounds.h"
#include "engine/partition/peak/clock.h"
#include "engine/partition/peak/exact.h"
#include "engine/partition/peak/greedy.h"
#include "engine/partition/peak/improve.h"
#include "engine/partition/peak/lowest.h"
#include "engine/partition/peak/on_demand.h"
#include "engine/partition/peak/starts.h"
#include "engine/partition/peak/trim.h"
#include "engine/partition/peak/window.h"

namespace recut::peak {
namespace {

constexpr std::int64_t kTriesAtOnce = 5 * 512;
constexpr double kAnnealed = 0.9;  // of all effort; the rest is for local improvement
constexpr int kRounds = 3;         // of annealing: from the order, then from the best
// Work for each computation that goes into improving a start at once, where it is not dearer than
// the best so far by more than a share, and into the best of every few.
constexpr std::int64_t kAtFirst = 8, kBestOfFew = 12;
constexpr double kNearTheBest = 1.1;
constexpr Cooling kReheated{0.15, 0.01, 0.02, 10};

class Search {
 public:
  Search(const Problem& problem, std::int64_t budget, const SolveOptions& options)
      : p_(problem), budget_(budget), options_(options), s_(problem), clock_(options) {}

  void start();
  void improve();
  Outcome outcome();

 private:
  bool spent() const { return clock_.spent(s_.work()); }
  bool better(std::int64_t peak, std::int64_t duration) const;
  void take(std::vector<std::int32_t> sequence, std::int64_t peak, std::int64_t duration);
  void note();  // remembers the sequence where it is the best so far
  bool is_near_the_best() const {
    return static_cast<double>(s_.duration() - p_.total_duration()) <=
           kNearTheBest * static_cast<double>(best_duration_ - p_.total_duration());
  }
  bool cannot_improve() const { return holds_ && best_duration_ == p_.total_duration(); }
  void start_freely();
  void anneal();
  void repair(const std::vector<std::int32_t>& sequence);
  void cool(Annealer& annealer, double from, double to);
  void improve_for(std::int64_t work);
  void start_on_demand();
  bool try_start(const Start& start, const Taste& taste);

  struct Candidate {
    std::vector<std::int32_t> sequence;
    std::int64_t duration = 0;
  };

  const Problem& p_;
  std::int64_t budget_;
  const SolveOptions& options_;
  Sequence s_;
  SearchClock clock_;
  std::set<std::tuple<int, std::int64_t, std::vector<std::int32_t>>> tried_;  // starts, as made
  bool holds_ = false;
  std::vector<std::int32_t> best_;
  std::int64_t best_peak_ = 0, best_duration_ = 0;
};

bool Search::better(std::int64_t peak, std::int64_t duration) const {
  const bool fits = peak <= budget_;
  return best_.empty() || (fits && !holds_) || (fits && duration < best_duration_) ||
         (!fits && !holds_ && peak < best_peak_);
}

void Search::take(std::vector<std::int32_t> sequence, std::int64_t peak, std::int64_t duration) {
  holds_ = peak <= budget_;
  best_ = std::move(sequence);
  best_peak_ = peak;
  best_duration_ = duration;
  clock_.tell({holds_, best_peak_, best_duration_, s_.work()});
}

void Search::note() {
  if (better(s_.peak(), s_.duration())) take(s_.computations(), s_.peak(), s_.duration());
}

// Whether it came to a plan that holds, and none that was tried already.
bool Search::try_start(const Start& start, const Taste& taste) {
  make_start(start, s_);
  // Recipes come to the same where prices don't matter; relieving is the dear part.
  if (!tried_.insert({taste.stretch, taste.work, s_.computations()}).second) return false;
  if (start.kind == Start::kOrder && p_.border() < 0) {
    reorder_all(s_, 16, 4, budget_);
    reorder_all(s_, 40, 4, budget_);
  }
  const bool holds = relieve(s_, budget_, taste);
  if (holds) trim(s_, budget_);
  s_.forget_log();
  note();
  return holds;
}

void Search::start() {
  if (!options_.start.empty()) {
    s_.assign(options_.start);
    if (relieve(s_, budget_, {})) trim(s_, budget_);
    note();
  }
  if (budget_ < peak_bound(p_, 0)) return;  // no step can hold it
  if (p_.border() < 0) return start_freely();
  const std::vector<Start> starts = list_starts(p_);
  // Little work for each at first, more where nothing has held yet. Which start leads furthest
  // shows only when it is improved, so each is for a moment, and the best of every few for longer:
  // a caller in a hurry gets a good plan early.
  int made = 0;
  Candidate few;
  for (const int round : {0, 1}) {
    for (const Start& start : starts) {
      if (spent()) return;
      Taste taste;
      taste.stretch = (made + round) % 2 == 0 ? 2 : 4;
      taste.work = (round == 0 ? 6 : 60) * p_.size() + 100;
      if (try_start(start, taste)) {
        if (is_near_the_best()) improve_for(kAtFirst * p_.size());
        if (few.sequence.empty() || s_.duration() < few.duration)
          few = {s_.computations(), s_.duration()};
      }
      if (++made % 6 != 0 || few.sequence.empty()) continue;
      s_.assign(few.sequence);
      improve_for(kBestOfFew * p_.size());
      few = {};
    }
    if (round == 0 && cannot_improve()) return;
    if (!holds_) start_on_demand();
    if (holds_) return;
  }
}

// Improves the plan at hand, which holds, for some effort.
void Search::improve_for(std::int64_t work) {
  s_.forget_log();
  Improver improver(s_, budget_, options_.seed + static_cast<std::uint64_t>(s_.work()));
  for (const std::int64_t until = s_.work() + work; s_.work() < until && !spent();)
    if (improver.step()) note();
}

// Without a border there is no recipe but the order: a greedy plan at once, for a caller in a
// hurry, then order and repetition together.
void Search::start_freely() {
  Taste taste;
  taste.work = 6 * p_.size() + 100;
  try_start({}, taste);
  if (spent() || cannot_improve()) return;
  anneal();
  if (!holds_) start_on_demand();
}

// Cools down from the problem's order, then again from the best plan, less hot: what one round
// froze too early, the next may thaw. A round that froze above the budget is none to go on from.
void Search::anneal() {
  const double begin = clock_.share(s_.work());
  if (begin >= kAnnealed) return;
  bool good = holds_ && !options_.start.empty();
  for (int round = 0; round < kRounds && !spent() && !cannot_improve(); ++round) {
    Annealer annealer(p_, budget_, good ? best_ : p_.order,
                      options_.seed + static_cast<std::uint64_t>(round),
                      good ? kReheated : Cooling{});
    cool(annealer, begin + (kAnnealed - begin) * round / kRounds,
         begin + (kAnnealed - begin) * (round + 1) / kRounds);
    good = good || annealer.holds();
    if (!holds_) repair(annealer.timeline().computations());
  }
}

// Takes what is a little above the budget and relieves it.
void Search::repair(const std::vector<std::int32_t>& sequence) {
  s_.assign(sequence);
  Taste taste;
  taste.work = 20 * p_.size() + 100;
  if (relieve(s_, budget_, taste)) trim(s_, budget_);
  s_.forget_log();
  note();
}

// From one share of the effort to another.
void Search::cool(Annealer& annealer, double from, double to) {
  while (!spent() && !cannot_improve()) {
    const double progress = (clock_.share(s_.work()) - from) / (to - from);
    if (progress >= 1) return;
    if (annealer.advance(kTriesAtOnce, std::max(0.0, progress)) &&
        better(annealer.best_peak(), annealer.best_duration()))
      take(annealer.best(), annealer.best_peak(), annealer.best_duration());
    s_.charge(kTriesAtOnce / kTriesPerWork);
  }
}

// Where no recipe reaches the budget: a memory of that size, run on demand.
void Search::start_on_demand() {
  for (const Eviction& eviction : evictions(p_)) {
    if (holds_ || spent()) return;
    std::int64_t work = 0;
    const std::vector<std::int32_t> runs = run_on_demand(p_, budget_, eviction, &work);
    s_.charge(work);
    if (runs.empty()) continue;
    s_.assign(runs);
    if (s_.peak() <= budget_) trim(s_, budget_);
    s_.forget_log();
    note();
  }
}

void Search::improve() {
  if (best_.empty()) {
    make_start({}, s_);
    note();
  }
  s_.assign(best_);
  s_.forget_log();
  Improver improver(s_, budget_, options_.seed);
  while (!spent() && !cannot_improve()) {
    if (holds_ ? improver.step() : improver.descend()) note();
  }
}

Outcome Search::outcome() {
  Outcome out;
  out.holds = holds_;
  out.sequence = best_;
  out.peak = best_peak_;
  out.duration = best_duration_;
  out.extra = best_duration_ - p_.total_duration();
  out.effort = s_.work();
  return out;
}

// Small problems are solved exactly, with proof.
bool solve_exactly(const Problem& p, std::int64_t budget, Outcome& out) {
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
  out.extra = out.duration - p.total_duration();
  out.effort = s.work();
  out.optimal = true;
  if (out.holds) {
    out.extra_bound = out.extra;
    out.peak_bound = peak_bound(p, kStates);
  } else {
    out.peak_bound = out.peak;
  }
  return true;
}

void add_bounds(const Problem& p, std::int64_t budget, const SolveOptions& options, Outcome& out) {
  if (options.bound_moments == 0) return;
  out.peak_bound = peak_bound(p, options.bound_states);
  if (out.holds && out.extra > 0) {
    const auto moments = likely_moments(p, out.sequence, options.bound_moments);
    out.extra_bound = std::min(out.extra, extra_bound(p, budget, moments));
  }
  out.optimal = out.holds ? out.extra == out.extra_bound : out.peak <= out.peak_bound;
}

}  // namespace

std::int64_t default_effort(const Problem& problem, double factor) {
  // Small problems are quick to try many times; without a border there is no recipe, and annealing
  // takes longer.
  const bool free = problem.border() < 0;
  const double once = free ? 300'000 : 150'000, share = free ? 800 : 250;
  const double effort = factor * (once + share * problem.size());
  return static_cast<std::int64_t>(std::clamp(effort, 1.0, 1e15));
}

std::int64_t peak_of(const Problem& problem, std::span<const std::int32_t> sequence) {
  Sequence s(problem);
  s.assign(sequence);
  return s.peak();
}

Outcome search(const Problem& problem, std::int64_t budget, const SolveOptions& options) {
  Search search(problem, budget, options);
  search.start();
  search.improve();
  return search.outcome();
}

Outcome solve(const Problem& problem, std::int64_t budget, const SolveOptions& options) {
  Outcome out;
  if (solve_exactly(problem, budget, out)) return out;
  const auto began = std::chrono::steady_clock::now();
  // The limit on time is for all searches together.
  const auto in_time_left = [&](SolveOptions each) {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
    if (each.seconds > 0) each.seconds = std::max(1e-3, options.seconds - taken.count());
    return each;
  };
  if (budget >= peak_bound(problem, 0)) out = search(problem, budget, options);
  if (!out.holds) {
    // What is reported as the least peak has to hold where it is asked for: it can't depend on the
    // budget that led there.
    SolveOptions from_least = options;
    from_least.effort = std::min(options.effort, kNoBudget / 2) * 2;
    const Outcome least = lowest(problem, in_time_left(from_least));
    from_least.effort = options.effort;
    from_least.start = least.sequence;
    out = least.peak <= budget ? search(problem, budget, in_time_left(from_least)) : least;
  }
  add_bounds(problem, budget, options, out);
  return out;
}

Outcome least_peak(const Problem& problem, const SolveOptions& options) {
  return solve(problem, 0, options);
}

}  // namespace recut::peak
