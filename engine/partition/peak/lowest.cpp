#include "engine/partition/peak/lowest.h"

#include <algorithm>
#include <utility>

#include "engine/partition/peak/anneal.h"
#include "engine/partition/peak/bounds.h"
#include "engine/partition/peak/clock.h"
#include "engine/partition/peak/greedy.h"
#include "engine/partition/peak/improve.h"
#include "engine/partition/peak/on_demand.h"
#include "engine/partition/peak/peak_of.h"
#include "engine/partition/peak/starts.h"
#include "engine/partition/peak/trim.h"

namespace recut::peak {
namespace {

constexpr double kCoarse = 0.1;                      // of the peak: the first step down
constexpr double kOtherSteps[] = {0.03, 0.2, 0.06};  // tried after the coarse one fails
constexpr double kPolish = 0.02;
constexpr double kInHurry = 2;           // times the effort
constexpr std::int64_t kTrimEvery = 20;  // trim after the peak fell by 1 / this
constexpr std::size_t kDraftsEach = 3;
// Work for each computation: of one step down, of a random descent, of annealing to one budget.
constexpr std::int64_t kFewRuns = 3, kManyRuns = 30;
constexpr std::int64_t kDescent = 40;
constexpr std::int64_t kTriesEach = 500;
constexpr int kSlices = 64;  // parts of the cooling schedule

struct Found {
  std::vector<std::int32_t> sequence;
  std::int64_t peak = kNoBudget, duration = 0;
};

// A plan of the DTR simulation.
struct Draft {
  std::vector<std::int32_t> sequence;
  std::int64_t peak;
  bool lowered = false;
};

class Lowest {
 public:
  Lowest(const Problem& problem, const SolveOptions& options, bool in_hurry)
      : p_(problem),
        in_hurry_(in_hurry),
        s_(problem),
        clock_(options),
        options_(options),
        floor_(peak_bound(problem, options.bound_states)),
        patience_((problem.border() < 0 ? 800.0 : 14000.0) / (600 + problem.size())),
        recipes_(list_low_starts(problem)) {}

  // Lowers plans of many kinds until each sticks: which one gets lowest isn't known beforehand, and
  // other step sizes make the same plan stick elsewhere.
  Outcome run() {
    make_start({}, s_, floor_);
    note();
    wait_for_more();
    if (p_.border() < 0) anneal_down();
    lower_all_kinds();
    if (!in_hurry_) polish();
    Outcome out;
    out.sequence = best_.sequence;
    out.peak = best_.peak;
    out.duration = best_.duration;
    out.extra = best_.duration - p_.total_duration();
    out.effort = s_.work();
    return out;
  }

 private:
  // The peak is within 1/2048 of the proved bound, or the effort is spent.
  bool done() const { return best_.peak <= floor_ + floor_ / 2048 || clock_.spent(s_.work()); }

  // At least the quick search's effort: a full search passes through all of its plans.
  void wait_for_more() {
    if (in_hurry_) return clock_.allow(0, kInHurry);
    const auto least = static_cast<std::int64_t>(kInHurry * static_cast<double>(options_.effort));
    clock_.allow(std::max(s_.work(), least), patience_);
  }

  // A lower peak extends the effort.
  void note() {
    if (s_.peak() > best_.peak || (s_.peak() == best_.peak && s_.duration() >= best_.duration))
      return;
    if (s_.peak() < best_.peak - best_.peak / 4096) wait_for_more();
    best_ = {s_.computations(), s_.peak(), s_.duration()};
    clock_.tell({false, s_.peak(), s_.duration(), s_.work()});
  }

  // Without a boundary the order is free, and annealing finds plans that no initial solution leads
  // to: from the best plan to ever lower budgets, by steps that halve on failure.
  void anneal_down() {
    double step = kCoarse;
    for (std::uint64_t round = 0; step > kPolish / 4 && !done(); ++round) {
      const std::int64_t goal = below(best_.peak, step);
      Annealer annealer(p_, goal, best_.sequence, options_.seed + round);
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
      note();
    }
  }

  // Lowers the initial solutions while that is cheap, then the plans of the DTR simulation. The
  // last steps down are expensive, and pay only for plans that got far.
  void lower_all_kinds() {
    for (std::size_t i = 0; i < recipes_.size(); ++i) lower_recipe(i, kCoarse, 1, kFewRuns);
    wait_for_more();
    descend();
    for (const Eviction& eviction : evictions(p_)) {
      run_in_least_memory(eviction);
      if (!drafts_.empty() && !drafts_.back().lowered) lower_draft(drafts_.size() - 1, kCoarse);
    }
    for (std::size_t i = 0; i < drafts_.size(); ++i)
      if (!drafts_[i].lowered) lower_draft(i, kCoarse);
    for (const double step : kOtherSteps)
      for (std::size_t i = 0; i < std::max(recipes_.size(), drafts_.size()); ++i) {
        lower_recipe(i, step, 2, kManyRuns);
        lower_draft(i, step);
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
    Improver improver(s_, floor_, options_.seed + static_cast<std::uint64_t>(s_.work()));
    for (const std::int64_t until = s_.work() + kDescent * p_.size(); s_.work() < until && !done();)
      if (improver.descend()) note();
  }

  // Bisects for the smallest memory in which the DTR simulation completes. It keeps the last plans
  // on the way too: one of a little more memory often gets lower afterwards.
  void run_in_least_memory(const Eviction& eviction) {
    std::vector<Draft> found;
    std::int64_t low = floor_, high = peak_of(p_, p_.order);
    while (high - low > high / 64 && !done()) {
      const std::int64_t budget = low + (high - low) / 2;
      std::int64_t work = 0;
      std::vector<std::int32_t> runs = run_on_demand(p_, budget, eviction, &work);
      s_.charge(work);
      const std::int64_t peak = runs.empty() ? kNoBudget : peak_of(p_, runs);
      if (peak > budget) {
        low = budget;
      } else {
        high = peak;
        found.push_back({std::move(runs), peak});
      }
    }
    const std::size_t skipped = std::max(found.size(), kDraftsEach) - kDraftsEach;
    for (std::size_t i = skipped; i < found.size(); ++i)
      if (is_new(found[i])) drafts_.push_back(std::move(found[i]));
  }

  bool is_new(const Draft& draft) const {
    return std::none_of(drafts_.begin(), drafts_.end(), [&](const Draft& known) {
      return known.peak == draft.peak && known.sequence == draft.sequence;
    });
  }

  void lower_recipe(std::size_t i, double step, int failures, std::int64_t runs_each) {
    if (i >= recipes_.size() || done()) return;
    if (recipes_[i].kind == Start::kPrice) s_.charge(p_.size());
    make_start(recipes_[i], s_, floor_);
    lower_stepwise(step, failures, runs_each);
  }

  void lower_draft(std::size_t i, double step) {
    if (i >= drafts_.size() || done()) return;
    drafts_[i].lowered = true;
    s_.assign(drafts_[i].sequence);
    trim(s_, s_.peak());
    lower_stepwise(step, 2, kManyRuns);
  }

  // Lowers the current sequence by steps of a share of its peak, halved on failure. A goal far
  // below what is possible would make the greedy search recompute everything.
  void lower_stepwise(double step, int failures, std::int64_t runs_each) {
    s_.forget_log();
    note();
    trimmed_at_ = s_.peak();
    while (failures > 0 && !done()) {
      if (lower(step, runs_each)) continue;
      step /= 2;
      --failures;
    }
    if (!done()) trim_and_note();
  }

  void trim_and_note() {
    trim(s_, s_.peak());
    trimmed_at_ = s_.peak();
    note();
  }

  std::int64_t below(std::int64_t peak, double step) const {
    return std::max(floor_, peak - static_cast<std::int64_t>(step * static_cast<double>(peak)) - 1);
  }

  // True if the peak got lower, even if the goal wasn't reached.
  bool lower(double step, std::int64_t runs_each) {
    s_.forget_log();
    const std::int64_t peak = s_.peak();
    Taste taste;
    taste.price = 2;
    taste.work = runs_each * p_.size();
    relieve(s_, below(peak, step), taste);
    if (s_.peak() < peak) {
      // Trimming takes as long as lowering, so not after every small step.
      if (s_.peak() < trimmed_at_ - trimmed_at_ / kTrimEvery) trim_and_note();
      return true;
    }
    s_.roll_back(0);
    return false;
  }

  const Problem& p_;
  const bool in_hurry_;
  Sequence s_;
  SearchClock clock_;
  const SolveOptions& options_;
  std::int64_t floor_;
  double patience_;              // share of the effort without a gain after which the search ends
  std::int64_t trimmed_at_ = 0;  // the peak at which the sequence was last trimmed
  std::vector<Start> recipes_;
  std::vector<Draft> drafts_;
  Found best_;
};

}  // namespace

Outcome lowest(const Problem& problem, const SolveOptions& options, bool in_hurry) {
  return Lowest(problem, options, in_hurry).run();
}

}  // namespace recut::peak
