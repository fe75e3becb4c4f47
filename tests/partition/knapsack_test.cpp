// Knapsacks: PyTorch's own tables of cases, and every subset of small random ones.
#include "engine/partition/knapsack/knapsack.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "engine/support/hash.h"

namespace recut {
namespace {

using Items = std::vector<std::size_t>;

Items taken(const KnapsackSolution& choice) {
  Items items;
  for (std::size_t i = 0; i < choice.taken.size(); ++i)
    if (choice.taken[i]) items.push_back(i);
  return items;
}

struct Case {
  std::vector<double> weights;
  std::vector<float> values;
  double capacity;
  double value;
  Items items;
};

TEST_CASE("the quantised knapsack takes what PyTorch's takes") {
  const Case cases[] = {
      {{2, 3, 2, 4, 1}, {1, 2, 1, 3, 2}, 5, 5, {3, 4}},
      {{0.5, 1.5, 2.0}, {1, 2, 3}, 2, 3, {0, 1}},
      {{}, {}, 5, 0, {}},
      {{1, 2}, {3, 4}, 0, 0, {}},
      {{0, 0}, {1, 2}, 0, 3, {0, 1}},            // items without weight are always taken
      {{0, 5}, {1, 9}, 4, 1, {0}},               //
      {{1, 1}, {0, 0}, 2, 0, {}},                // and items without value never
      {{1, 1, 1}, {1, 1, 1}, 1, 1, {0}},         // of equals the first
      {{0.00004, 1}, {1, 1}, 1, 2, {0, 1}},      // under half a ten-thousandth weighs nothing
      {{1, 1}, {16777216, 1}, 2, 16777216, {0}}  // float32 can't tell 2^24 + 1 from 2^24
  };
  for (const Case& c : cases) {
    const KnapsackSolution choice = quantised_knapsack(c.weights, c.values, c.capacity);
    CHECK(taken(choice) == c.items);
    CHECK(choice.value == c.value);
  }
}

TEST_CASE("absurd weights are too heavy, not undefined") {
  const KnapsackSolution choice = quantised_knapsack(std::vector<double>{1e300, HUGE_VAL, NAN, 0.5},
                                                     std::vector<float>{1, 1, 1, 1}, 0.75);
  CHECK(taken(choice) == Items{3});
}

TEST_CASE("the exact knapsack is the best of all subsets") {
  std::uint64_t state = 7;
  const auto draw = [&](std::uint64_t below) {
    return static_cast<std::int64_t>((state = hash_mix(state, 1)) % below);
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int64_t> weights, values;
    const auto n = static_cast<std::size_t>(1 + draw(9));
    for (std::size_t i = 0; i < n; ++i) {
      weights.push_back(draw(12));
      values.push_back(draw(20));
    }
    const std::int64_t capacity = draw(40);
    std::int64_t best = 0;
    for (std::uint32_t subset = 0; subset < 1u << n; ++subset) {
      std::int64_t weight = 0, value = 0;
      for (std::size_t i = 0; i < n; ++i)
        if (subset >> i & 1) weight += weights[i], value += values[i];
      if (weight <= capacity) best = std::max(best, value);
    }
    const KnapsackSolution choice = exact_knapsack(weights, values, capacity);
    std::int64_t weight = 0, value = 0;
    for (const std::size_t i : taken(choice)) weight += weights[i], value += values[i];
    REQUIRE(weight <= capacity);
    REQUIRE(value == best);
    REQUIRE(choice.value == static_cast<double>(best));
  }
}

TEST_CASE("the exact knapsack keeps the pennies that float32 drops") {
  const std::vector<std::int64_t> weights{1, 1}, values{16777216, 1};
  CHECK(taken(exact_knapsack(weights, values, 2)) == Items{0, 1});
}

TEST_CASE("the greedy knapsack goes by value per weight, weightless items first") {
  const std::vector<double> weights{2, 0, 1, 3}, values{2, 1, 5, 4};
  const KnapsackSolution choice = greedy_knapsack(weights, values, 4);
  CHECK(taken(choice) == Items{1, 2, 3});
  CHECK(choice.value == 10);
}

}  // namespace
}  // namespace recut
