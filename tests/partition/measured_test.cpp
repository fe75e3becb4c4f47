// Workspaces, rounded bytes and measured times in every part of the memory and time model.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "engine/cost/cost.h"
#include "engine/cost/device.h"
#include "engine/fusion/fuse_pointwise.h"
#include "engine/fusion/kernel_cost.h"
#include "engine/partition/baseline.h"
#include "engine/partition/peak/exact_search.h"
#include "engine/partition/peak/sequence.h"
#include "engine/partition/peak/solver.h"
#include "engine/partition/problem/joint_problem.h"
#include "engine/partition/replay.h"
#include "engine/partition/strategy.h"
#include "tests/partition/graphs.h"
#include "tests/random/random_graph.h"

namespace recut {
namespace {

// Every value has 64 bytes.
constexpr std::string_view kStep = R"(graph "step" {
  %x = parameter f32[4, 4]
  %a = exp(%x)
  %v = permute(%a, [1, 0])
  %b = relu(%v)
  %t = tangent f32[4, 4]
  %g = mul.Tensor(%t, %a)
  results %b
  gradients %g
})";

Graph with(Graph graph, Measurements measurements) {
  graph.measured = std::make_shared<const Measurements>(std::move(measurements));
  return graph;
}

Graph step_with(std::int64_t granularity, const std::string& node, const Measurement& measurement) {
  Graph graph = parse(kStep);
  Measurements measurements;
  measurements.granularity = granularity;
  measurements.add(graph.find(node), measurement);
  return with(std::move(graph), std::move(measurements));
}

TEST_CASE("measured: storages have whole grains, and empty ones none", "[partition]") {
  const Graph graph = step_with(100, "a", {std::nullopt, 150});
  const StorageModel storages(graph);
  const NodeId a = graph.find("a");
  REQUIRE(storages.owned(a).size() == 1);
  CHECK(storages[storages.owned(a)[0]].bytes == 100);
  REQUIRE(storages.workspace(a).has_value());
  CHECK(storages[*storages.workspace(a)].bytes == 200);
  CHECK(storages[*storages.workspace(a)].owner == a);
  CHECK_FALSE(storages.workspace(graph.find("b")).has_value());
  const StorageModel values(graph, StorageModel::Sizes::values);
  CHECK(values[values.owned(a)[0]].bytes == 64);
  CHECK_FALSE(values.workspace(a).has_value());

  const Graph empty = with(parse(R"(graph "empty" {
  %x = input f32[0, 4]
  %y = exp(%x)
  results %y
})"),
                           [] {
                             Measurements grains;
                             grains.granularity = 512;
                             return grains;
                           }());
  CHECK(StorageModel(empty).size() == 0);
}

TEST_CASE("measured: views and inputs take no workspace and no time", "[partition]") {
  for (const char* name : {"v", "x"}) {
    const Graph graph = step_with(1, name, {5.0, 1000});
    CHECK_FALSE(StorageModel(graph).workspace(graph.find(name)).has_value());
    DeviceRates rates;
    rates.measured = true;
    CHECK(node_micros(graph, graph.find(name), rates) == 0);
  }
}

TEST_CASE("measured: a workspace is alive in its call's steps, each time it runs", "[partition]") {
  const Graph graph = step_with(1, "a", {std::nullopt, 1000});
  Plan plan;
  plan.forward = nodes(graph, {"a", "v", "b"});
  plan.backward = nodes(graph, {"a", "g"});
  const auto result = replay(graph, plan);
  REQUIRE(result.ok());
  CHECK(result->steps[0].live_bytes == 1064);
  CHECK(result->steps[1].live_bytes == 64);
  CHECK(result->steps[2].live_bytes == 128);
  CHECK(result->steps[3].live_bytes == 1128);  // and b, which is a result
  CHECK(result->steps[4].live_bytes == 192);
  CHECK(result->peak_bytes == 1128);
  const auto workspaces =
      std::count_if(result->instances.begin(), result->instances.end(),
                    [](const StorageInstance& instance) { return instance.workspace; });
  CHECK(workspaces == 2);
  for (const StorageInstance& instance : result->instances)
    if (instance.workspace) CHECK(instance.birth == instance.last_use);
  CHECK(baseline_step(graph).peak_bytes == 1064);
}

TEST_CASE("measured: times count where they are asked for", "[partition]") {
  const Graph graph = step_with(1, "a", {42.0, 0});
  DeviceRates rates;
  const double estimated = node_micros(graph, graph.find("a"), rates);
  CHECK(estimated < 1);
  rates.measured = true;
  CHECK(node_micros(graph, graph.find("a"), rates) == 42);
  CHECK(node_micros(graph, graph.find("b"), rates) < 1);
  const StorageModel storages(graph);
  const FusionGroups groups = fuse_pointwise(graph, storages);
  const NodeId a = graph.find("a");
  CHECK(kernel_micros(graph, storages, groups, std::span(&a, 1), rates) == 42);
}

TEST_CASE("measured: too many bytes are refused, workspaces and grains among them", "[partition]") {
  CHECK(check_total_bytes(step_with(1, "a", {std::nullopt, std::int64_t{1} << 50})).ok());
  Graph graph = parse(kStep);
  Measurements measurements;
  for (const NodeId id : graph.order()) measurements.add(id, {std::nullopt, std::int64_t{1} << 60});
  const Graph measured = with(std::move(graph), std::move(measurements));
  CHECK_FALSE(check_total_bytes(measured).ok());
}

// Random times, workspaces and granularity; some nodes have none.
Graph randomly_measured(std::uint64_t seed) {
  Graph graph = test::random_graph(seed);
  test::Random random(seed + 1000);
  Measurements measurements;
  measurements.granularity = random.one_in(3) ? 1 : 1 << random.between(0, 9);
  for (const NodeId id : graph.order()) {
    Measurement measurement;
    if (random.one_in(2)) measurement.micros = static_cast<double>(random.between(0, 500)) / 8;
    if (random.one_in(3)) measurement.workspace_bytes = random.between(0, 3000);
    measurements.add(id, measurement);
  }
  return with(std::move(graph), std::move(measurements));
}

void check_order(const Graph& graph, const StorageModel& storages, const DeviceRates& rates,
                 const FusionGroups& groups) {
  const JointProblem joint(graph, storages, rates, {}, groups);
  peak::Sequence order(joint.problem());
  order.assign(joint.problem().order);
  const auto result = replay(graph, storages, joint.plan(joint.problem().order), rates, groups);
  REQUIRE(result.ok());
  CHECK(result->peak_bytes == order.peak());
  const double planned = joint.micros(joint.problem().total_duration());
  CHECK(std::abs(result->step_us - planned) <= 1e-3 + 1e-6 * planned);
}

// Returns whether something was recomputed.
bool check_plan(const Graph& graph, const StorageModel& storages, PlanRequest request,
                std::int64_t budget) {
  request.budget = PeakBytes{budget};
  request.limits.effort = 0.05;
  const auto outcome = make_plan(graph, request);
  REQUIRE(outcome.ok());
  const auto result = replay(graph, storages, outcome->plan, request.rates, request.groups);
  REQUIRE(result.ok());
  REQUIRE(outcome->proof);
  CHECK(outcome->proof->holds == (result->peak_bytes <= budget));
  if (!outcome->proof->holds) CHECK(outcome->proof->min_peak_bytes == result->peak_bytes);
  CHECK(outcome->proof->peak_bound_bytes <= result->peak_bytes);
  CHECK(outcome->proof->recompute_bound_us <= result->recompute_us + 1e-3);
  return !result->recomputed.empty();
}

TEST_CASE("measured: on random graphs a replay's peak is the problem's", "[partition]") {
  int recomputing = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const Graph graph = randomly_measured(seed);
    INFO("seed " << seed);
    const StorageModel storages(graph);
    PlanRequest request;
    request.rates.measured = true;
    for (const bool fused : {false, true}) {
      INFO("fused " << fused);
      if (fused) request.groups = fuse_pointwise(graph, storages);
      check_order(graph, storages, request.rates, request.groups);
      const auto once = replay(graph, storages, make_plan(graph, {"default", NoBudget{}})->plan);
      REQUIRE(once.ok());
      for (const std::int64_t percent : {90, 60})
        recomputing += check_plan(graph, storages, request,
                                  std::max<std::int64_t>(1, once->peak_bytes * percent / 100));
    }
  }
  CHECK(recomputing > 10);
}

TEST_CASE("measured: no proof is above what an exact search finds", "[partition]") {
  int asked = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Graph graph = randomly_measured(seed);
    const StorageModel storages(graph);
    DeviceRates rates;
    rates.measured = true;
    const JointProblem joint(graph, storages, rates);
    if (joint.problem().size() > 12) continue;
    INFO("seed " << seed);
    const auto least = peak::exact_peak(joint.problem(), 60'000);
    if (!least) continue;
    ++asked;
    peak::SolveOptions options;
    options.effort = 8000;
    const peak::Outcome found = peak::solve(joint.problem(), least->value, options);
    CHECK(found.peak_bound <= least->value);
    CHECK(found.peak >= least->value);
    const auto result = replay(graph, storages, joint.plan(least->sequence), rates);
    REQUIRE(result.ok());
    CHECK(result->peak_bytes == least->value);
  }
  CHECK(asked > 20);
}

}  // namespace
}  // namespace recut
