// Plans of real joint graphs: the replay must measure the peak that the sequence promised.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <filesystem>

#include "engine/input/graph_file_reader.h"
#include "engine/partition/peak/sequence.h"
#include "engine/partition/peak/solver.h"
#include "engine/partition/problem/joint_problem.h"
#include "engine/partition/replay.h"
#include "tests/partition/graphs.h"
#include "tests/partition/joint_files.h"

namespace recut::peak {
namespace {

Replay replayed(const Graph& graph, const StorageModel& storages, const Plan& plan) {
  auto figures = replay(graph, storages, plan);
  INFO((figures ? std::string() : format(figures.diagnostics())));
  REQUIRE(figures.ok());
  return std::move(*figures);
}

void check_budget(const Graph& graph, std::int64_t percent) {
  const StorageModel storages(graph);
  const JointProblem joint(graph, storages);
  Sequence order(joint.problem());
  order.assign(joint.problem().order);
  const Replay untouched = replayed(graph, storages, joint.plan(joint.problem().order));
  REQUIRE(untouched.peak_bytes == order.peak());
  REQUIRE(untouched.recompute_us == 0);

  SolveOptions options;
  options.effort = 30'000;
  options.bound_steps = 1;
  options.bound_states = 100;
  const std::int64_t budget = order.peak() * percent / 100;
  const Outcome outcome = solve(joint.problem(), budget, options);
  const Replay figures = replayed(graph, storages, joint.plan(outcome.sequence));
  CHECK(figures.peak_bytes == outcome.peak);
  const double overhead = joint.micros(outcome.overhead);
  CHECK(std::abs(figures.recompute_us - overhead) <= 1e-3 + 1e-6 * overhead);
  CHECK(outcome.holds == (outcome.peak <= budget));
  CHECK(outcome.peak >= outcome.peak_bound);
  CHECK(outcome.overhead >= outcome.overhead_bound);
}

TEST_CASE("peak: plans of real graphs replay to the byte", "[partition]") {
  for (const std::string& path : joint_files()) {
    const std::string name = std::filesystem::path(path).filename().string();
    if (name == "gpt2_xl.json.gz") continue;  // the benchmark's business
    CAPTURE(name);
    const auto file = read_graph_file(path);
    REQUIRE(file.ok());
    check_budget(file->graph, 60);
  }
}

}  // namespace
}  // namespace recut::peak
