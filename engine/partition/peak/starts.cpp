#include "engine/partition/peak/starts.h"

#include <algorithm>

#include "engine/partition/peak/editor.h"
#include "engine/partition/peak/late_results.h"
#include "engine/partition/peak/peak_of.h"
#include "engine/partition/peak/power.h"
#include "engine/partition/peak/saved_set.h"
#include "engine/partition/peak/segments.h"
#include "engine/partition/peak/window.h"

namespace recut::peak {
namespace {

// Weights of storages by their lifetime in the problem's order: a long life is the most expensive
// to keep.
std::vector<double> weights_by_life(const Problem& p, int stretch) {
  std::vector<double> weight;
  if (stretch == 0) return weight;
  std::vector<std::int32_t> position(p.size(), 0);
  for (std::size_t i = 0; i < p.order.size(); ++i)
    position[p.order[i]] = static_cast<std::int32_t>(i);
  weight.assign(p.storages(), 1);
  const double mean = std::max<double>(1, static_cast<double>(p.size()) / 2);
  for (std::int32_t s = 0; s < p.storages(); ++s) {
    std::int32_t last = position[p.producer(s)];
    for (const std::int32_t reader : p.readers(s)) last = std::max(last, position[reader]);
    weight[s] = quarter_power((1.0 + last - position[p.producer(s)]) / mean, stretch);
  }
  return weight;
}

}  // namespace

std::vector<Start> list_starts(const Problem& p) {
  std::vector<Start> starts{{}};
  if (p.border() < 0) return {{Start::kReordered, 0, 0, 0}};
  const auto price = [&](double at, int stretch) {
    starts.push_back({Start::kPrice, at, stretch, 0});
  };
  const auto segments = [&](int n) { starts.push_back({Start::kSegments, 0, 0, n}); };
  // Ordered by how often each won on the joint graphs of real models, kinds mixed.
  price(0.25, 0), starts.push_back({Start::kReordered, 0, 0, 0});
  price(0.5, 0), segments(16), price(0.7, 0), segments(32), price(0.5, 1), price(0.18, 0),
      price(0.35, 0), segments(64), price(1, 4), segments(8);
  price(0.12, 4), price(1, 1), price(0.06, 0), price(0.25, 1), segments(12);
  price(1, 0), segments(4), price(0.5, 4), segments(48), segments(24);
  price(0.12, 0), price(1.4, 0), segments(2), segments(6);
  return starts;
}

std::vector<Start> list_low_starts(const Problem& p) {
  if (p.border() < 0) return {{Start::kReordered, 0, 0, 0, 0}};
  std::vector<Start> starts;
  const auto add = [&](int segments, double late) {
    if (late == 0 || p.end() >= 0) starts.push_back({Start::kSegments, 0, 0, segments, late});
  };
  add(16, 0.95), add(16, 0), add(16, 0.6), add(32, 0.95), add(8, 0.95), add(32, 0.6), add(64, 0.95);
  starts.emplace_back();
  for (const double price : {0.25, 0.5, 1.0}) starts.push_back({Start::kPrice, price, 0, 0, 0});
  add(32, 0), add(8, 0.6), add(64, 0), add(8, 0);
  return starts;
}

namespace {

// The storages that an initial solution saves.
std::vector<bool> saved_by(const Start& start, const Problem& p) {
  if (start.kind == Start::kSegments) return checkpoints(p, start.segments);
  if (start.kind != Start::kPrice) return std::vector<bool>(p.storages(), true);
  const double unit = static_cast<double>(p.total_duration()) /
                      static_cast<double>(std::max<std::int64_t>(1, peak_of(p, p.order)));
  return cheapest_saved_set(p, start.price * unit, weights_by_life(p, start.stretch)).saved;
}

void sweep_all(Sequence& s) {
  const Problem& p = s.problem();
  Editor editor(s);
  for (std::int32_t c = 0; c < p.size(); ++c)
    for (RunId run = s.first_run(c), next; run != kNoRun && s.run_count(c) > 1; run = next) {
      next = s.next_same(run);
      if (s.unused(run)) {
        editor.sweep(run);
        next = s.first_run(c);
        if (next == run) break;
      }
    }
  s.forget_log();
}

}  // namespace

void make_start(const Start& start, Sequence& s, std::int64_t budget) {
  const Problem& p = s.problem();
  const bool is_order = start.kind == Start::kOrder || start.kind == Start::kReordered;
  if (start.late > 0)
    s.assign(expand_in_two_passes(p, saved_by(start, p), start.late));
  else
    s.assign(is_order ? p.order : expand_lazily(p, saved_by(start, p)));
  sweep_all(s);
  if (start.kind != Start::kReordered) return;
  reorder_all(s, 16, 4, budget);
  reorder_all(s, 40, 4, budget);
  s.forget_log();
}

}  // namespace recut::peak
