#include "engine/partition/knapsack/knapsack.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/partition/knapsack/quanta.h"
#include "engine/support/check.h"

namespace recut {
namespace {

constexpr double kQuanta = 10000;
constexpr double kMaxQuanta = 1 << 20;

// The textbook recurrence (Bellman 1957), best[i][c] = max(best[i-1][c], best[i-1][c-w] + v), with
// one row of values kept. A bit for each (item, capacity) tells whether item i changed the row, and
// the traceback needs no more. PyTorch keeps every row of float32: 32 times the memory.
KnapsackSolution solve(std::span<const std::int64_t> weights, std::span<const float> values,
                       std::int64_t capacity) {
  const std::size_t width = static_cast<std::size_t>(capacity) + 1;
  std::vector<float> best(width, 0.0F);
  std::vector<bool> changed(weights.size() * width, false);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] > capacity) continue;
    const auto weight = static_cast<std::size_t>(weights[i]);
    const auto row = changed.begin() + static_cast<std::ptrdiff_t>(i * width);
    // Downwards, so that best[c - weight] is still the row before.
    for (std::size_t c = width; c-- > weight;) {
      const float with = best[c - weight] + values[i];
      // An item without weight is added at any price: that is how PyTorch's solver has it.
      const bool better = weight == 0 ? with != best[c] : with > best[c];
      if (!better) continue;
      best[c] = with;
      row[static_cast<std::ptrdiff_t>(c)] = true;
    }
  }
  KnapsackSolution choice{static_cast<double>(best[width - 1]),
                          std::vector<bool>(weights.size(), false)};
  std::size_t c = width - 1;
  for (std::size_t i = weights.size(); i-- > 0;) {
    if (!changed[i * width + c]) continue;
    choice.taken[i] = true;
    c -= static_cast<std::size_t>(weights[i]);
  }
  return choice;
}

}  // namespace

std::int64_t quanta_of(double amount) {
  // NaN compares false and becomes the maximum too.
  const double quanta = amount * kQuanta < kMaxQuanta ? amount * kQuanta : kMaxQuanta;
  return static_cast<std::int64_t>(std::nearbyint(quanta));
}

KnapsackSolution quantised_knapsack(std::span<const double> weights, std::span<const float> values,
                                    double capacity) {
  RECUT_CHECK(weights.size() == values.size(), "a weight and a value for each item");
  std::vector<std::int64_t> quantised;
  for (const double weight : weights) quantised.push_back(quanta_of(weight));
  return solve(quantised, values, quanta_of(capacity));
}

KnapsackSolution greedy_knapsack(std::span<const double> weights, std::span<const double> values,
                                 double capacity) {
  RECUT_CHECK(weights.size() == values.size(), "a weight and a value for each item");
  const auto density = [&](std::size_t i) {
    return weights[i] > 0 ? values[i] / weights[i] : HUGE_VAL;
  };
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return density(a) > density(b); });
  KnapsackSolution choice{0, std::vector<bool>(weights.size(), false)};
  double used = 0;
  for (const std::size_t i : order) {
    if (used + weights[i] > capacity) continue;
    used += weights[i];
    choice.value += values[i];
    choice.taken[i] = true;
  }
  return choice;
}

}  // namespace recut
