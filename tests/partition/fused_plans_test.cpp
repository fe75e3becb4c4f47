// Plans in the fused model: what is planned is what replay measures, and kernels stay whole.
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "engine/input/graph_file_reader.h"
#include "engine/ir/aliases.h"
#include "engine/ir/data_flow.h"
#include "engine/ir/printer.h"
#include "engine/partition/peak/sequence.h"
#include "engine/partition/peak/solver.h"
#include "engine/partition/problem/joint_problem.h"
#include "engine/partition/replay.h"
#include "engine/partition/strategy.h"
#include "tests/fusion/fused_graphs.h"
#include "tests/partition/joint_files.h"
#include "tests/random/random_graph.h"
#include "tests/random/same_meaning.h"

namespace recut {
namespace {

// One kernel of forward, exp and relu, that forward and backward read.
Graph chain_read_by_both_passes() {
  return parse(with_product(R"(
    %a = exp(%x)
    %b = relu(%a)
    %g = mul.Tensor(%t, %b)
    %c = mm(%b, %w)
    results %c
    gradients %g, none)"));
}

TEST_CASE("fusion: replay wants whole kernels", "[partition]") {
  const Graph graph = chain_read_by_both_passes();
  const StorageModel storages(graph);
  const FusionGroups groups = fuse_pointwise(graph, storages);
  REQUIRE(groups.size() == 1);
  const auto fault = [&](const Names& forward, const Names& saved, const Names& backward) {
    const auto result =
        replay(graph, storages,
               {nodes(graph, forward), nodes(graph, saved), nodes(graph, backward)}, {}, groups);
    return result ? std::string() : result.diagnostics().front().message;
  };
  CHECK(fault({"a", "b", "c"}, {"b"}, {"g"}).empty());
  CHECK(fault({"a", "b", "c"}, {}, {"a", "b", "g"}).empty());
  CHECK(fault({"a", "big", "b", "c"}, {"b"}, {"g"}) ==
        "'b' does not run together with the other calls of its kernel");
  CHECK(fault({"a", "b", "c"}, {"a"}, {"b", "g"}) ==
        "'a' does not run together with the other calls of its kernel");
  CHECK(fault({"a", "b", "c"}, {"a", "b"}, {"g"}) == "'a' is saved but never leaves its kernel");

  const auto figures =
      replay(graph, storages,
             {nodes(graph, {"a", "b", "c"}), nodes(graph, {"b"}), nodes(graph, {"g"})}, {}, groups);
  REQUIRE(figures.ok());
  CHECK(figures->steps[0].live_bytes == 800);  // b, from the kernel's start; a nowhere
  CHECK(figures->instances.size() == 3);
  const auto once = make_plan(graph, {"default", NoBudget{}, {}, {}, {}, groups});
  REQUIRE_FALSE(once.ok());
  CHECK(once.diagnostics().front().message.find("takes 'peak' and 'torch'") != std::string::npos);
}

// Groups depend on one another in one direction: found apart from how they were made.
void check_convex(const Graph& graph, const FusionGroups& groups) {
  const auto kernel = [&](NodeId id) {
    const std::int32_t group = groups.group(id);
    return group == FusionGroups::kAlone ? static_cast<std::int64_t>(graph.position(id))
                                         : -1 - static_cast<std::int64_t>(group);
  };
  std::map<std::int64_t, std::set<std::int64_t>> readers;
  std::map<std::int64_t, int> waits;
  for (const NodeId id : graph.order()) {
    const std::int64_t to = kernel(defining_node(graph, id));
    waits.emplace(to, 0);
    for (const NodeId operand : graph[id].operands) {
      const std::int64_t from = kernel(defining_node(graph, operand));
      if (from != to && readers[from].insert(to).second) ++waits[to];
    }
  }
  std::vector<std::int64_t> ready;
  for (const auto& [at, count] : waits)
    if (count == 0) ready.push_back(at);
  std::size_t done = 0;
  for (; !ready.empty(); ++done) {
    const std::int64_t at = ready.back();
    ready.pop_back();
    for (const std::int64_t reader : readers[at])
      if (--waits[reader] == 0) ready.push_back(reader);
  }
  REQUIRE(done == waits.size());
}

void check_borders(const Graph& graph, const FusionGroups& groups) {
  const std::vector<bool> late = needs_tangent(graph);
  for (std::int32_t g = 0; g < groups.size(); ++g) {
    REQUIRE(groups.calls(g).size() > 1);
    for (const NodeId id : groups.inlined(g)) {
      REQUIRE(groups.group(id) != g);
      REQUIRE((graph.op(id).is(kPointwise) || graph.op(id).is(kCreation)));
      REQUIRE_FALSE(late[graph.position(id)]);
      REQUIRE(late[graph.position(groups.members(g).front())]);
    }
    for (const NodeId id : groups.members(g)) {
      REQUIRE(groups.group(id) == g);
      REQUIRE_FALSE(graph.op(id).is(kImpure));
      REQUIRE(late[graph.position(id)] == late[graph.position(groups.members(g).front())]);
    }
  }
}

Replay replayed(const Graph& graph, const StorageModel& storages, const Plan& plan,
                const FusionGroups& groups) {
  auto figures = replay(graph, storages, plan, {}, groups);
  INFO((figures ? std::string() : format(figures.diagnostics())));
  REQUIRE(figures.ok());
  return std::move(*figures);
}

void check_values(const Graph& graph, const Plan& plan) {
  const Inputs inputs = test::inputs_for(graph, 1, test::Values::ordinary);
  const auto program = evaluate(graph, inputs);
  const auto planned = evaluate(graph, plan, inputs);
  REQUIRE(program.ok() == planned.ok());
  if (!program) return;
  CHECK(test::outputs_difference(program->outputs, planned->outputs).empty());
  const auto eager = replay(graph, plan);
  REQUIRE(eager.ok());
  CHECK(planned->peak_bytes == eager->peak_bytes);
}

void check_fused(const Graph& graph, std::int64_t effort, bool values) {
  INFO((graph.order().size() < 100 ? print(graph) : graph.name));
  const StorageModel storages(graph);
  const FusionGroups groups = fuse_pointwise(graph, storages);
  check_convex(graph, groups);
  check_borders(graph, groups);
  const JointProblem joint(graph, storages, {}, {}, groups);
  peak::Sequence once(joint.problem());
  once.assign(joint.problem().order);
  const Replay untouched = replayed(graph, storages, joint.plan(joint.problem().order), groups);
  REQUIRE(untouched.peak_bytes == once.peak());
  const double all = joint.micros(joint.problem().total_duration());
  REQUIRE(std::abs(untouched.step_us - all) <= 1e-3 + 1e-6 * all);
  REQUIRE(untouched.recompute_us == 0);
  for (const std::int64_t percent : {70, 40, 0}) {
    CAPTURE(percent);
    peak::SolveOptions options;
    options.effort = effort;
    options.bound_steps = 1;
    options.bound_states = 100;
    const peak::Outcome outcome = peak::solve(
        joint.problem(), std::max<std::int64_t>(1, once.peak() * percent / 100), options);
    const Plan plan = joint.plan(outcome.sequence);
    const Replay figures = replayed(graph, storages, plan, groups);
    REQUIRE(figures.peak_bytes == outcome.peak);
    const double overhead = joint.micros(outcome.overhead);
    REQUIRE(std::abs(figures.recompute_us - overhead) <= 1e-3 + 1e-6 * overhead);
    if (values) check_values(graph, plan);
  }
}

TEST_CASE("fusion: plans of random graphs replay to the byte and mean the same", "[partition]") {
  for (std::uint64_t seed = 1; seed <= test::tries(300); ++seed) {
    CAPTURE(seed);
    const Graph graph = test::random_graph(seed);
    check_fused(graph, 2'000, true);
  }
}

TEST_CASE("fusion: plans of real graphs replay to the byte", "[partition]") {
  for (const std::string& path : joint_files()) {
    const std::string name = std::filesystem::path(path).filename().string();
    if (name == "gpt2_xl.json.gz") continue;  // the benchmark's business
    CAPTURE(name);
    const auto file = read_graph_file(path);
    REQUIRE(file.ok());
    check_fused(file->graph, 10'000, false);
  }
}

TEST_CASE("fusion: pinned recomputations are whole kernels", "[partition]") {
  const Graph graph = chain_read_by_both_passes();
  const StorageModel storages(graph);
  const FusionGroups groups = fuse_pointwise(graph, storages);
  const JointProblem joint(graph, storages, {}, {{}, nodes(graph, {"a"})}, groups);
  const Plan plan = joint.plan(joint.problem().order);
  CHECK(names(graph, plan.backward) == Names{"a", "b", "g"});
  CHECK(plan.saved.empty());
  const Replay figures = replayed(graph, storages, plan, groups);
  CHECK(std::abs(figures.recompute_us - joint.micros(joint.forced_duration())) < 1e-5);
}

}  // namespace
}  // namespace recut
