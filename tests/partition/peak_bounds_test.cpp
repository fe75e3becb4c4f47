// Exact answers, bounds and the search against each other, on small random problems.
#include <catch2/catch_test_macros.hpp>
#include <numeric>

#include "engine/partition/peak/bounds.h"
#include "engine/partition/peak/dtr_simulation.h"
#include "engine/partition/peak/exact_search.h"
#include "engine/partition/peak/min_peak.h"
#include "engine/partition/peak/solver.h"
#include "tests/partition/problems.h"

namespace recut::peak {
namespace {

constexpr std::size_t kStates = 60'000;

TEST_CASE("bounds: none is above the optimum, and the search is never below it", "[partition]") {
  int asked = 0, best = 0, held = 0, bound_met = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    const RematProblem p = random_problem(seed, 4 + static_cast<int>(seed % 5));
    const auto least = exact_peak(p, kStates);
    if (!least) continue;
    REQUIRE(measured_peak(p, least->sequence) == least->value);
    CHECK(peak_bound(p, 2000) <= least->value);
    CHECK(peak_bound(p, 1) <= least->value);

    const std::int64_t easy = *measured_peak(p, p.order);
    const std::int64_t budget =
        least->value + (easy - least->value) * static_cast<std::int64_t>(seed % 3) / 3;
    const auto exact = exact_duration(p, budget, kStates);
    if (!exact) continue;
    ++asked;
    REQUIRE(*measured_peak(p, exact->sequence) <= budget);
    REQUIRE(duration_of(p, exact->sequence) == exact->value);
    const std::int64_t overhead = exact->value - p.total_duration();
    std::vector<std::int32_t> steps(static_cast<std::size_t>(p.size()));
    std::iota(steps.begin(), steps.end(), 0);
    const std::int64_t bound = overhead_bound(p, budget, steps);
    CHECK(bound <= overhead);
    bound_met += bound == overhead ? 1 : 0;

    SolveOptions options;
    options.effort = 8000;
    const Outcome found = search(p, budget, options);
    REQUIRE(measured_peak(p, found.sequence) == found.peak);
    REQUIRE(found.duration == duration_of(p, found.sequence));
    if (!found.holds) continue;
    ++held;
    CHECK(found.peak <= budget);
    CHECK(found.overhead >= overhead);
    best += found.overhead == overhead ? 1 : 0;
  }
  REQUIRE(asked > 200);
  CHECK(held * 10 >= asked * 9);
  CHECK(best * 10 >= held * 9);
  CHECK(bound_met * 2 >= asked);
}

TEST_CASE("min peak: never below the least peak, and mostly there", "[partition]") {
  int asked = 0, reached = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const RematProblem p = random_problem(seed, 4 + static_cast<int>(seed % 7));
    const auto least = exact_peak(p, kStates);
    if (!least) continue;
    SolveOptions options;
    options.effort = 8000;
    const Outcome found = min_peak(p, options, false);
    REQUIRE(measured_peak(p, found.sequence) == found.peak);
    CHECK(found.duration == duration_of(p, found.sequence));
    CHECK(found.peak >= least->value);
    ++asked;
    reached += found.peak == least->value ? 1 : 0;
  }
  REQUIRE(asked > 100);
  CHECK(reached * 10 >= asked * 9);
}

TEST_CASE("simulate_dtr: what it gives runs, and once means once", "[partition]") {
  int gave = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const RematProblem p = random_problem(seed, 30);
    const std::int64_t easy = *measured_peak(p, p.order);
    for (const DtrHeuristic& heuristic : dtr_heuristics(p)) {
      const auto runs =
          simulate_dtr(p, easy * (4 + static_cast<std::int64_t>(seed % 7)) / 10, heuristic);
      if (runs.empty()) continue;
      ++gave;
      REQUIRE(measured_peak(p, runs));
    }
  }
  CHECK(gave > 300);
}

TEST_CASE("solve: a budget below the least peak is answered with proof", "[partition]") {
  const RematProblem p = random_problem(11, 6);
  const auto least = exact_peak(p, kStates);
  REQUIRE(least);
  const Outcome outcome = solve(p, least->value - 1);
  CHECK(!outcome.holds);
  CHECK(outcome.optimal);
  CHECK(outcome.peak == least->value);
  CHECK(outcome.peak_bound == least->value);
}

TEST_CASE("solve: the same seed and effort give the same plan", "[partition]") {
  const RematProblem p = random_problem(5, 60);
  SolveOptions options;
  options.effort = 20'000;
  const std::int64_t budget = *measured_peak(p, p.order) * 7 / 10;
  CHECK(solve(p, budget, options).sequence == solve(p, budget, options).sequence);
}

TEST_CASE("sweep: a larger budget never costs more time", "[partition]") {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const RematProblem p = random_problem(seed, 40);
    const std::int64_t peak = *measured_peak(p, p.order);
    std::vector<std::int64_t> budgets;
    for (int i = 0; i < 12; ++i) budgets.push_back(peak * (12 - i) / 12);
    SweepOptions options;
    options.effort = 200'000;
    const std::vector<Outcome> curve = sweep(p, budgets, options);
    for (std::size_t i = 0; i < curve.size(); ++i) {
      if (!curve[i].holds) continue;
      CHECK(*measured_peak(p, curve[i].sequence) <= budgets[i]);
      if (i > 0) {
        CHECK(curve[i - 1].holds);
        CHECK(curve[i - 1].duration <= curve[i].duration);
      }
    }
  }
}

}  // namespace
}  // namespace recut::peak
