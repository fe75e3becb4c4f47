#include <algorithm>
#include <numeric>

#include "engine/partition/peak/bounds.h"
#include "engine/partition/peak/greedy.h"
#include "engine/partition/peak/improve.h"
#include "engine/partition/peak/solver.h"
#include "engine/partition/peak/starts.h"

namespace recut::peak {
namespace {

struct Point {
  std::int64_t budget;
  std::vector<std::int32_t> sequence;
  std::int64_t peak = 0, duration = 0;
  bool holds() const { return !sequence.empty() && peak <= budget; }
};

class Curve {
 public:
  Curve(const Problem& p, std::vector<Point>& points, const SolveOptions& options)
      : p_(p), points_(points), options_(options), s_(p), until_(options.effort) {}

  // All recipes for every budget: each is made once and lowered from budget to budget.
  void draft() {
    for (const Start& start : list_starts(p_)) {
      make_start(start, s_);
      for (std::size_t i = 0; i < points_.size() && !spent(); ++i) {
        Taste taste;
        taste.work = 4 * p_.size() + 100;
        const std::size_t mark = s_.mark();
        if (!relieve(s_, points_[i].budget, taste)) {
          s_.roll_back(mark);
          continue;
        }
        const std::vector<std::int32_t> untrimmed = s_.computations();
        trim(s_, points_[i].budget);
        offer(i);
        s_.assign(untrimmed);
      }
      s_.forget_log();
    }
  }

  // Down: each budget tries its larger neighbour's plan, lowered. Up: its smaller neighbour's plan,
  // trimmed. Both are improved for a share of the effort.
  void pass(std::int64_t share, bool down, std::uint64_t seed) {
    for (std::size_t k = 0; k < points_.size() && !spent(); ++k) {
      const std::size_t i = down ? k : points_.size() - 1 - k;
      Point& point = points_[i];
      if (k > 0) adopt(points_[down ? i - 1 : i + 1], i);
      if (point.sequence.empty()) continue;
      s_.assign(point.sequence);
      Improver improver(s_, point.budget, options_.seed + seed * 1000 + i);
      for (const std::int64_t until = s_.work() + share; s_.work() < until && !spent();)
        improver.step();
      offer(i);
    }
  }

  bool spent() const {
    return s_.work() >= until_ || (options_.cancel != nullptr && options_.cancel->load());
  }
  std::int64_t work() const { return s_.work(); }

 private:
  void adopt(const Point& from, std::size_t i) {
    if (from.sequence.empty()) return;
    s_.assign(from.sequence);
    Taste taste;
    taste.work = 10 * p_.size() + 100;
    if (!relieve(s_, points_[i].budget, taste)) return;
    trim(s_, points_[i].budget);
    offer(i);
  }

  void offer(std::size_t i) {
    Point& point = points_[i];
    if (s_.peak() > point.budget) return;
    if (!point.sequence.empty() && point.duration <= s_.duration()) return;
    point.sequence = s_.computations();
    point.peak = s_.peak();
    point.duration = s_.duration();
  }

  const Problem& p_;
  std::vector<Point>& points_;
  const SolveOptions& options_;
  Sequence s_;
  std::int64_t until_;
};

}  // namespace

std::vector<Outcome> sweep(const Problem& problem, std::span<const std::int64_t> budgets,
                           const SolveOptions& options) {
  std::vector<std::size_t> by_budget(budgets.size());
  std::iota(by_budget.begin(), by_budget.end(), std::size_t{0});
  std::stable_sort(by_budget.begin(), by_budget.end(),
                   [&](std::size_t a, std::size_t b) { return budgets[a] > budgets[b]; });
  std::vector<Point> points;
  for (const std::size_t i : by_budget) points.push_back({budgets[i], {}, 0, 0});

  Curve curve(problem, points, options);
  curve.draft();
  for (std::uint64_t round = 0; round < 4 && !curve.spent(); ++round) {
    const std::int64_t share =
        (options.effort - curve.work()) /
        static_cast<std::int64_t>((4 - round) * std::max<std::size_t>(1, points.size()));
    curve.pass(share, round % 2 == 0, round);
  }
  // Monotone by construction: a smaller budget's plan serves a larger one, too.
  for (std::size_t i = points.size(); i-- > 1;)
    if (points[i].holds() &&
        (!points[i - 1].holds() || points[i].duration < points[i - 1].duration)) {
      const std::int64_t budget = points[i - 1].budget;
      points[i - 1] = points[i];
      points[i - 1].budget = budget;
    }

  std::vector<Outcome> outcomes(budgets.size());
  const std::int64_t bound =
      options.bound_moments > 0 ? peak_bound(problem, options.bound_states) : 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Outcome& out = outcomes[by_budget[i]];
    out.holds = points[i].holds();
    out.sequence = points[i].sequence;
    out.peak = points[i].peak;
    out.duration = points[i].duration;
    out.extra = out.holds ? out.duration - problem.total_duration() : 0;
    out.peak_bound = bound;
    out.optimal = out.holds ? out.extra == 0 : points[i].budget < bound;
  }
  return outcomes;
}

}  // namespace recut::peak
