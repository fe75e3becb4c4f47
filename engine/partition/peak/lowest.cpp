#include "engine/partition/peak/lowest.h"

#include <algorithm>

#include "engine/partition/peak/bounds.h"
#include "engine/partition/peak/clock.h"
#include "engine/partition/peak/greedy.h"
#include "engine/partition/peak/trim.h"
#include "engine/partition/peak/on_demand.h"
#include "engine/partition/peak/starts.h"

namespace recut::peak {
namespace {

struct Found {
  std::vector<std::int32_t> sequence;
  std::int64_t peak = kNoBudget, duration = 0;
};

class Lowest {
 public:
  Lowest(const Problem& problem, const SolveOptions& options)
      : p_(problem), s_(problem), clock_(options), floor_(peak_bound(problem, 0)) {}

  // Recipes and what is run on demand are lowered each for itself: which gets further isn't known
  // before.
  Outcome run() {
    make_start({}, s_);
    note(best_);
    clock_.allow(s_.work(), 0.25);
    const Found by_recipe = lowest_recipe();
    clock_.allow(s_.work(), 0.25);
    const Found on_demand = smallest_memory();
    clock_.allow(s_.work(), 0.25);
    lower_further(on_demand);
    clock_.allow(s_.work(), 0.25);
    lower_further(by_recipe);
    Outcome out;
    out.sequence = best_.sequence;
    out.peak = best_.peak;
    out.duration = best_.duration;
    out.extra = best_.duration - p_.total_duration();
    out.effort = s_.work();
    return out;
  }

 private:
  // Within half a thousandth of what one call needs nothing is left to be won.
  bool done() const { return best_.peak <= floor_ + floor_ / 2048 || clock_.spent(s_.work()); }

  bool note(Found& found) {
    if (s_.peak() > found.peak || (s_.peak() == found.peak && s_.duration() >= found.duration))
      return false;
    found = {s_.computations(), s_.peak(), s_.duration()};
    if (&found != &best_ && note(best_)) clock_.tell({false, s_.peak(), s_.duration(), s_.work()});
    return true;
  }

  // Each recipe, lowered in steps that shrink where they fail. A goal far below what is possible
  // would make the search repeat everything.
  Found lowest_recipe() {
    Found found;
    for (const Start& start : list_starts(p_)) {
      make_start(start, s_);
      note(found);
      double step = 0.2;
      for (std::int64_t peak = s_.peak(); step > 0.005 && !done();) {
        make_start(start, s_);
        if (relieve(s_, below(peak, step), taste(30))) {
          peak = s_.peak();
          note(found);
        } else {
          step /= 2;
        }
      }
      s_.forget_log();
    }
    return found;
  }

  // Ever smaller memories, run on demand.
  Found smallest_memory() {
    Found found;
    make_start({}, s_);
    note(found);
    double first_step = 0.5;
    for (const Eviction& eviction : evictions(p_)) {
      for (double step = first_step; step > 0.005 && !done();) {
        const std::int64_t budget = below(found.peak, step);
        const std::vector<std::int32_t> runs = run_on_demand(p_, budget, eviction);
        s_.charge(runs.empty() ? eviction.max_runs / 2 : static_cast<std::int64_t>(runs.size()));
        if (!runs.empty()) s_.assign(runs);
        if (runs.empty() || s_.peak() > budget) {
          step /= 2;
          continue;
        }
        trim(s_, s_.peak());
        note(found);
      }
      first_step = 0.02;
    }
    return found;
  }

  void lower_further(Found found) {
    s_.assign(found.sequence);
    for (double step = 0.05; step > 0.002 && !done();) {
      s_.forget_log();
      relieve(s_, below(found.peak, step), taste(60));
      if (s_.peak() < found.peak) {
        trim(s_, s_.peak());
        note(found);
      } else {
        s_.roll_back(0);
        step /= 2;
      }
    }
  }

  std::int64_t below(std::int64_t peak, double step) const {
    return std::max(floor_, peak - static_cast<std::int64_t>(step * static_cast<double>(peak)) - 1);
  }

  Taste taste(std::int64_t runs_each) const {
    Taste taste;
    taste.price = 2;
    taste.work = runs_each * p_.size();
    return taste;
  }

  const Problem& p_;
  Sequence s_;
  SearchClock clock_;
  std::int64_t floor_;
  Found best_;
};

}  // namespace

Outcome lowest(const Problem& problem, const SolveOptions& options) {
  return Lowest(problem, options).run();
}

}  // namespace recut::peak
