// Knapsacks: PyTorch's own tables of cases, and every subset of small random ones.
#include "engine/partition/knapsack/knapsack.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/input/bytes.h"
#include "engine/support/hash.h"
#include "tests/paths.h"

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
    std::vector<std::int64_t> weights;
    std::vector<double> values;
    const auto n = static_cast<std::size_t>(1 + draw(9));
    for (std::size_t i = 0; i < n; ++i) {
      weights.push_back(draw(12));
      values.push_back(static_cast<double>(draw(20)));
    }
    const std::int64_t capacity = draw(40);
    double best = 0;
    for (std::uint32_t subset = 0; subset < 1u << n; ++subset) {
      std::int64_t weight = 0;
      double value = 0;
      for (std::size_t i = 0; i < n; ++i)
        if (subset >> i & 1) weight += weights[i], value += values[i];
      if (weight <= capacity) best = std::max(best, value);
    }
    const auto choice = exact_knapsack(weights, values, capacity);
    REQUIRE(choice);
    std::int64_t weight = 0;
    double value = 0;
    for (const std::size_t i : taken(*choice)) weight += weights[i], value += values[i];
    REQUIRE(weight <= capacity);
    REQUIRE(value == best);
    REQUIRE(choice->value == best);
  }
}

TEST_CASE("the exact knapsack keeps the pennies that float32 drops") {
  const std::vector<std::int64_t> weights{1, 1};
  const std::vector<double> values{16777216, 1};
  CHECK(taken(*exact_knapsack(weights, values, 2)) == Items{0, 1});
}

TEST_CASE("the greedy knapsack goes by value per weight, weightless items first") {
  const std::vector<double> weights{2, 0, 1, 3}, values{2, 1, 5, 4};
  const KnapsackSolution choice = greedy_knapsack(weights, values, 4);
  CHECK(taken(choice) == Items{1, 2, 3});
  CHECK(choice.value == 10);
}

TEST_CASE("the exact knapsack gives up where its sums are too many, and says so") {
  std::vector<std::int64_t> weights;
  std::vector<double> values;
  for (int bit = 0; bit < 30; ++bit) {
    weights.push_back((std::int64_t{1} << 40) + (std::int64_t{1} << bit));
    values.push_back(static_cast<double>(weights.back()));
  }
  CHECK_FALSE(exact_knapsack(weights, values, 15 * (std::int64_t{1} << 40) - 1).has_value());
  CHECK(exact_knapsack(weights, values, std::int64_t{1} << 50)->value > 0);
}

// Whole weights for the exact solver: shares of the range, in parts of 10^12.
std::vector<std::int64_t> whole_weights(const std::vector<double>& shares) {
  std::vector<std::int64_t> weights;
  for (const double share : shares) weights.push_back(std::llround(share * 1e12));
  return weights;
}

using PyTorchChoice = nlohmann::json;

// HiGHS stops within a ten-thousandth of the best value; its choice may exceed the capacity by a
// millionth.
void compare_exact(const PyTorchChoice& instance, const std::vector<double>& memory,
                   const std::vector<double>& runtimes) {
  const std::vector<std::int64_t> weights = whole_weights(memory);
  const std::int64_t capacity = std::llround(instance["capacity"].get<double>() * 1e12);
  const auto ours = exact_knapsack(weights, runtimes, capacity + 1000);
  REQUIRE(ours);
  std::int64_t weight = 0, theirs = 0;
  for (const std::size_t i : taken(*ours)) weight += weights[i];
  CHECK(weight <= capacity + 1000);
  for (const std::size_t i : instance["found"]["ilp"]["saved"].get<Items>()) theirs += weights[i];
  const double value = instance["found"]["ilp"]["value"];
  if (theirs <= capacity + 1000) CHECK(ours->value >= value * (1 - 1e-9));
  CHECK(ours->value <= value * (1 + 1.01e-4));
}

// 120 instances that tests/pytorch/partition_options.py drew, with the answers of PyTorch 2.11.
TEST_CASE("the knapsacks take what PyTorch's solvers took") {
  const auto packed =
      read_file(RECUT_SOURCE_DIR "/tests/partition/torch_options/knapsacks.json.gz");
  REQUIRE(packed.ok());
  const auto text = gunzip(*packed);
  REQUIRE(text.ok());
  const PyTorchChoice instances = PyTorchChoice::parse(*text);
  CHECK(instances.size() == 120);
  for (const PyTorchChoice& instance : instances) {
    const auto memory = instance["memory"].get<std::vector<double>>();
    const auto runtimes = instance["runtimes"].get<std::vector<double>>();
    const std::vector<float> values(runtimes.begin(), runtimes.end());
    const double capacity = instance["capacity"];
    const auto saved = [&](const char* solver) {
      return instance["found"][solver]["saved"].get<Items>();
    };
    INFO(instance.dump());
    CHECK(taken(quantised_knapsack(memory, values, capacity)) == saved("dp"));
    CHECK(taken(greedy_knapsack(memory, runtimes, capacity)) == saved("greedy"));
    CHECK(taken(sliding_knapsack(memory, values, capacity)) ==
          saved("dp_knapsack_sliding_hirschberg"));
    compare_exact(instance, memory, runtimes);
  }
}

// Three items of one unit, and room for one: PyTorch's solver takes two (pytorch#197871).
TEST_CASE("the sliding knapsack exceeds its capacity where PyTorch's does") {
  const std::vector<double> weights{0.0001, 0.0001, 0.0001};
  const std::vector<float> values{1, 1, 1};
  CHECK(taken(sliding_knapsack(weights, values, 0.0001)) == Items{0, 1});
  CHECK(taken(sliding_knapsack({}, {}, 1)).empty());
}

}  // namespace
}  // namespace recut
