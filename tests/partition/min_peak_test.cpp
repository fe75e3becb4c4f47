// Minimum peaks: deferred results, DTR simulations, and that the reported minimum can be planned.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "engine/input/graph_file_reader.h"
#include "engine/partition/peak/bounds.h"
#include "engine/partition/peak/checkpoint_segments.h"
#include "engine/partition/peak/dtr_simulation.h"
#include "engine/partition/peak/min_peak.h"
#include "engine/partition/peak/peak_of.h"
#include "engine/partition/peak/solver.h"
#include "engine/partition/peak/two_pass_backward.h"
#include "engine/partition/problem/joint_problem.h"
#include "tests/effort.h"
#include "tests/partition/problems.h"
#include "tests/paths.h"

namespace recut::peak {
namespace {

std::int32_t made(RematProblem& p, std::int64_t bytes, std::vector<std::int32_t> reads,
                  std::uint8_t flags = 0) {
  p.order.push_back(p.add(1, std::span(&bytes, 1), reads, flags));
  return p.storages() - 1;
}

// A result of 30 bytes from a small value, before a step that needs 100. If the result is computed
// after the step, both fit into the memory of the step alone.
RematProblem result_before_a_crowd() {
  RematProblem p;
  const std::int32_t small = made(p, 2, {});
  const std::int32_t result = made(p, 30, {small});
  const std::int32_t large = made(p, 50, {small});
  const std::int32_t sum = made(p, 50, {large});
  const std::int32_t other = made(p, 1, {sum});
  const std::int32_t end =
      p.add(0, {}, std::vector<std::int32_t>{result, other}, RematProblem::kOnce);
  p.set_end(end);
  p.order.push_back(end);
  p.finish();
  return p;
}

TEST_CASE("DTR simulation: results wait where memory doesn't suffice", "[partition]") {
  const RematProblem p = result_before_a_crowd();
  REQUIRE(peak_of(p, p.order) == 130);
  DtrHeuristic heuristic;
  heuristic.defer_results = true;
  std::int64_t work = 0;
  const std::vector<std::int32_t> runs = simulate_dtr(p, 102, heuristic, &work);
  REQUIRE(runs.size() == p.order.size());  // no recomputation
  CHECK(measured_peak(p, runs) == 102);
  CHECK(work > 0);
  CHECK(simulate_dtr(p, 99, heuristic).empty());
  CHECK(simulate_dtr(p, 130, heuristic) == p.order);
}

// Two layers whose gradients come before a high step of backward: 40 + 40 bytes of gradients, and
// 100 for the step. A second pass, which recomputes the tangents, needs 40 + 40 + a little at the
// end, and 100 + a little before.
RematProblem gradients_before_a_crowd() {
  RematProblem p;
  const std::int32_t input = made(p, 4, {});
  const std::int32_t x = made(p, 4, {input});
  const std::int32_t boundary_bytes = made(p, 0, {x}, RematProblem::kOnce);
  p.set_boundary(p.producer(boundary_bytes));
  const std::int32_t first = made(p, 4, {x, boundary_bytes});
  const std::int32_t grad_1 = made(p, 40, {first, x});
  const std::int32_t second = made(p, 4, {first});
  const std::int32_t grad_2 = made(p, 40, {second, x});
  const std::int32_t large = made(p, 50, {second});
  const std::int32_t sum = made(p, 50, {large});
  const std::int32_t grad_0 = made(p, 1, {sum});
  const std::int32_t end =
      p.add(0, {}, std::vector<std::int32_t>{grad_1, grad_2, grad_0}, RematProblem::kOnce);
  p.set_end(end);
  p.order.push_back(end);
  p.finish();
  return p;
}

TEST_CASE("two-pass backward: a second pass makes them, from what runs again", "[partition]") {
  const RematProblem p = gradients_before_a_crowd();
  const std::vector<bool> saved(static_cast<std::size_t>(p.storages()), true);
  const std::int64_t once = peak_of(p, p.order);
  const std::vector<std::int32_t> none = expand_in_two_passes(p, saved, 0);
  CHECK(none == p.order);
  const std::vector<std::int32_t> both = expand_in_two_passes(p, saved, 0.99);
  const auto peak = measured_peak(p, both);
  REQUIRE(peak.has_value());
  CHECK(*peak < once - 60);
  // Computations that make only gradients run once, after the high step.
  const auto place = [&](std::int32_t storage) {
    const auto at = std::find(both.begin(), both.end(), p.producer(storage));
    CHECK(std::count(both.begin(), both.end(), p.producer(storage)) == 1);
    return at - both.begin();
  };
  CHECK(place(4) > place(8));
  CHECK(place(6) > place(8));
}

TEST_CASE("two-pass backward: every share gives a sound sequence", "[partition]") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const RematProblem p = random_problem(seed, 30);
    if (p.boundary() < 0 || p.end() < 0) continue;
    for (const double share : {0.0, 0.3, 0.6, 0.95, 1.0})
      for (const int segments : {1, 4}) {
        CAPTURE(seed, share, segments);
        const auto runs = expand_in_two_passes(p, checkpoints(p, segments), share);
        CHECK(measured_peak(p, runs) == peak_of(p, runs));
      }
  }
}

TEST_CASE("DTR simulation: what runs peaks within the memory, unless it runs once", "[partition]") {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const RematProblem p = random_problem(seed, 20);
    bool once = false;
    for (std::int32_t c = 0; c < p.size(); ++c) once |= p.once(c) && c != p.end();
    for (const DtrHeuristic& heuristic : dtr_heuristics(p)) {
      const std::int64_t budget = peak_of(p, p.order) * 4 / 5;
      const std::vector<std::int32_t> runs = simulate_dtr(p, budget, heuristic);
      if (runs.empty()) continue;
      CAPTURE(seed, heuristic.exponent_quarters, heuristic.defer_results);
      const auto peak = measured_peak(p, runs);
      REQUIRE(peak.has_value());
      if (!once) CHECK(*peak <= budget);
      ++found;
    }
  }
  CHECK(found > 100);
}

TEST_CASE("min peak: between the bound and the order's own peak, and the same twice",
          "[partition]") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const RematProblem p = random_problem(seed, 30);
    SolveOptions options;
    options.effort = 20'000;
    const Outcome a = min_peak(p, options, false), b = min_peak(p, options, false);
    CHECK(a.sequence == b.sequence);
    const Outcome quick = min_peak(p, options, true);
    CHECK(measured_peak(p, quick.sequence) == quick.peak);
    CHECK(quick.peak >= a.peak);
    CHECK(measured_peak(p, a.sequence) == a.peak);
    CHECK(a.peak >= peak_bound(p, 100));
    CHECK(a.peak <= peak_of(p, p.order));
  }
}

TEST_CASE("min peak: a budget equal to it holds, with the same options", "[partition]") {
  for (const char* name : test::tried<const char*>({"tiny_lm", "tiny_lstm", "unet"})) {
    CAPTURE(name);
    const auto file =
        read_graph_file(std::string(RECUT_SOURCE_DIR "/samples/joint/") + name + ".json.gz");
    REQUIRE(file.ok());
    const StorageModel storages(file->graph);
    const JointProblem joint(file->graph, storages);
    SolveOptions options;
    options.effort = default_effort(joint.problem(), 0.2);
    options.bound_steps = 0;
    const Outcome least = solve_min_peak(joint.problem(), options);
    const Outcome held = solve(joint.problem(), least.peak, options);
    CHECK(held.holds);
    CHECK(held.peak <= least.peak);
    // Below the bound a quick search answers, with a plan that can be requested as well.
    const Outcome refused = solve(joint.problem(), least.peak_bound - 1, options);
    CHECK_FALSE(refused.holds);
    CHECK(refused.effort <= 2 * options.effort + 40 * joint.problem().size());
    CHECK(refused.peak >= least.peak);
    CHECK(solve(joint.problem(), refused.peak, options).holds);
  }
}

}  // namespace
}  // namespace recut::peak
