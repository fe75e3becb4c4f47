// The least peaks: results that wait, plans run on demand, and that the number that is reported can
// be asked for.
#include <catch2/catch_test_macros.hpp>

#include "engine/input/graph_file.h"
#include "engine/partition/peak/bounds.h"
#include "engine/partition/peak/lowest.h"
#include "engine/partition/peak/on_demand.h"
#include "engine/partition/problem/joint_problem.h"
#include "tests/effort.h"
#include "tests/partition/problems.h"
#include "tests/paths.h"

namespace recut::peak {
namespace {

std::int32_t made(Problem& p, std::int64_t bytes, std::vector<std::int32_t> reads,
                  std::uint8_t flags = 0) {
  p.order.push_back(p.add(1, std::span(&bytes, 1), reads, flags));
  return p.storages() - 1;
}

// A result of 30 bytes from a small value, before a step that needs 100: made after it, both fit
// where only the step does.
Problem result_before_a_crowd() {
  Problem p;
  const std::int32_t small = made(p, 2, {});
  const std::int32_t result = made(p, 30, {small});
  const std::int32_t large = made(p, 50, {small});
  const std::int32_t sum = made(p, 50, {large});
  const std::int32_t other = made(p, 1, {sum});
  const std::int32_t end = p.add(0, {}, std::vector<std::int32_t>{result, other}, Problem::kOnce);
  p.set_end(end);
  p.order.push_back(end);
  p.finish();
  return p;
}

TEST_CASE("on demand: results wait where memory doesn't suffice", "[partition]") {
  const Problem p = result_before_a_crowd();
  REQUIRE(peak_of(p, p.order) == 130);
  Eviction eviction;
  eviction.results_wait = true;
  std::int64_t work = 0;
  const std::vector<std::int32_t> runs = run_on_demand(p, 102, eviction, &work);
  REQUIRE(runs.size() == p.order.size());  // nothing is made twice
  CHECK(measured_peak(p, runs) == 102);
  CHECK(work > 0);
  CHECK(run_on_demand(p, 99, eviction).empty());
  CHECK(run_on_demand(p, 130, eviction) == p.order);
}

TEST_CASE("on demand: what runs peaks within the memory, unless it runs once", "[partition]") {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Problem p = random_problem(seed, 20);
    bool once = false;
    for (std::int32_t c = 0; c < p.size(); ++c) once |= p.once(c) && c != p.end();
    for (const Eviction& eviction : evictions(p)) {
      const std::int64_t budget = peak_of(p, p.order) * 4 / 5;
      const std::vector<std::int32_t> runs = run_on_demand(p, budget, eviction);
      if (runs.empty()) continue;
      CAPTURE(seed, eviction.stretch, eviction.results_wait);
      const auto peak = measured_peak(p, runs);
      REQUIRE(peak.has_value());
      if (!once) CHECK(*peak <= budget);
      ++found;
    }
  }
  CHECK(found > 100);
}

TEST_CASE("lowest: between the bound and the order's own peak, and the same twice", "[partition]") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const Problem p = random_problem(seed, 30);
    SolveOptions options;
    options.effort = 20'000;
    const Outcome a = lowest(p, options), b = lowest(p, options);
    CHECK(a.sequence == b.sequence);
    CHECK(measured_peak(p, a.sequence) == a.peak);
    CHECK(a.peak >= peak_bound(p, 100));
    CHECK(a.peak <= peak_of(p, p.order));
  }
}

TEST_CASE("lowest: a budget equal to it holds, with the same options", "[partition]") {
  for (const char* name : test::tried<const char*>({"tiny_lm", "tiny_lstm", "unet"})) {
    CAPTURE(name);
    const auto file =
        read_graph_file(std::string(RECUT_SOURCE_DIR "/samples/joint/") + name + ".json.gz");
    REQUIRE(file.ok());
    const StorageModel storages(file->graph);
    const JointProblem joint(file->graph, storages);
    SolveOptions options;
    options.effort = default_effort(joint.problem(), 0.2);
    options.bound_moments = 0;
    const Outcome least = least_peak(joint.problem(), options);
    const Outcome held = solve(joint.problem(), least.peak, options);
    CHECK(held.holds);
    CHECK(held.peak <= least.peak);
  }
}

}  // namespace
}  // namespace recut::peak
