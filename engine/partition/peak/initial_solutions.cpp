#include "engine/partition/peak/initial_solutions.h"

#include <algorithm>

#include "engine/partition/peak/checkpoint_segments.h"
#include "engine/partition/peak/min_cut_saved_set.h"
#include "engine/partition/peak/peak_of.h"
#include "engine/partition/peak/portable_math.h"
#include "engine/partition/peak/reorder_window.h"
#include "engine/partition/peak/sequence_editor.h"
#include "engine/partition/peak/two_pass_backward.h"

namespace recut::peak {
namespace {

// Weights of storages by their lifetime in the problem's order: a long life is the most expensive
// to keep.
std::vector<double> weights_by_lifetime(const RematProblem& p, int exponent_quarters) {
  std::vector<double> weight;
  if (exponent_quarters == 0) return weight;
  std::vector<std::int32_t> position(p.size(), 0);
  for (std::size_t i = 0; i < p.order.size(); ++i)
    position[p.order[i]] = static_cast<std::int32_t>(i);
  weight.assign(p.storages(), 1);
  const double mean = std::max<double>(1, static_cast<double>(p.size()) / 2);
  for (std::int32_t s = 0; s < p.storages(); ++s) {
    std::int32_t last = position[p.producer(s)];
    for (const std::int32_t reader : p.readers(s)) last = std::max(last, position[reader]);
    weight[s] = quarter_power((1.0 + last - position[p.producer(s)]) / mean, exponent_quarters);
  }
  return weight;
}

}  // namespace

std::vector<InitialSolution> initial_solutions(const RematProblem& p) {
  std::vector<InitialSolution> solutions{{}};
  if (p.boundary() < 0) return {{InitialSolution::kReordered, 0, 0, 0}};
  const auto price = [&](double at, int exponent_quarters) {
    solutions.push_back({InitialSolution::kPrice, at, exponent_quarters, 0});
  };
  const auto segments = [&](int n) { solutions.push_back({InitialSolution::kSegments, 0, 0, n}); };
  // Ordered by how often each won on the joint graphs of real models, kinds mixed.
  price(0.25, 0), solutions.push_back({InitialSolution::kReordered, 0, 0, 0});
  price(0.5, 0), segments(16), price(0.7, 0), segments(32), price(0.5, 1), price(0.18, 0),
      price(0.35, 0), segments(64), price(1, 4), segments(8);
  price(0.12, 4), price(1, 1), price(0.06, 0), price(0.25, 1), segments(12);
  price(1, 0), segments(4), price(0.5, 4), segments(48), segments(24);
  price(0.12, 0), price(1.4, 0), segments(2), segments(6);
  return solutions;
}

std::vector<InitialSolution> low_peak_initial_solutions(const RematProblem& p) {
  if (p.boundary() < 0) return {{InitialSolution::kReordered, 0, 0, 0, 0}};
  std::vector<InitialSolution> solutions;
  const auto add = [&](int segments, double deferred_share) {
    if (deferred_share == 0 || p.end() >= 0)
      solutions.push_back({InitialSolution::kSegments, 0, 0, segments, deferred_share});
  };
  add(16, 0.95), add(16, 0), add(16, 0.6), add(32, 0.95), add(8, 0.95), add(32, 0.6), add(64, 0.95);
  solutions.emplace_back();
  for (const double price : {0.25, 0.5, 1.0})
    solutions.push_back({InitialSolution::kPrice, price, 0, 0, 0});
  add(32, 0), add(8, 0.6), add(64, 0), add(8, 0);
  return solutions;
}

namespace {

// The storages that an initial solution saves.
std::vector<bool> saved_by(const InitialSolution& start, const RematProblem& p) {
  if (start.kind == InitialSolution::kSegments) return checkpoints(p, start.segments);
  if (start.kind != InitialSolution::kPrice) return std::vector<bool>(p.storages(), true);
  const double unit = static_cast<double>(p.total_duration()) /
                      static_cast<double>(std::max<std::int64_t>(1, peak_of(p, p.order)));
  return min_cut_saved_set(p, start.price * unit, weights_by_lifetime(p, start.exponent_quarters))
      .saved;
}

void remove_all_dead_runs(Sequence& s) {
  const RematProblem& p = s.problem();
  SequenceEditor editor(s);
  for (std::int32_t c = 0; c < p.size(); ++c)
    for (RunId run = s.first_run(c), next; run != kNoRun && s.run_count(c) > 1; run = next) {
      next = s.next_same(run);
      if (s.unused(run)) {
        editor.remove_dead_runs(run);
        next = s.first_run(c);
        if (next == run) break;
      }
    }
  s.forget_log();
}

}  // namespace

void build_initial_solution(const InitialSolution& start, Sequence& s, std::int64_t budget) {
  const RematProblem& p = s.problem();
  const bool is_order =
      start.kind == InitialSolution::kOrder || start.kind == InitialSolution::kReordered;
  if (start.deferred_share > 0)
    s.assign(expand_in_two_passes(p, saved_by(start, p), start.deferred_share));
  else
    s.assign(is_order ? p.order : expand_lazily(p, saved_by(start, p)));
  remove_all_dead_runs(s);
  if (start.kind != InitialSolution::kReordered) return;
  reorder_all(s, 16, 4, budget);
  reorder_all(s, 40, 4, budget);
  s.forget_log();
}

}  // namespace recut::peak
