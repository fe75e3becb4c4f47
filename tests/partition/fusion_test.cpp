// The fused model: which calls join, what their kernel costs, and that what is planned in it is
// what replay measures.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "engine/cost/cost.h"
#include "engine/cost/device.h"
#include "engine/eval/evaluator.h"
#include "engine/input/graph_file.h"
#include "engine/ir/aliases.h"
#include "engine/ir/data_flow.h"
#include "engine/ir/printer.h"
#include "engine/partition/fusion/fuse_pointwise.h"
#include "engine/partition/fusion/kernel_traffic.h"
#include "engine/partition/peak/sequence.h"
#include "engine/partition/peak/solver.h"
#include "engine/partition/problem/joint_problem.h"
#include "engine/partition/replay.h"
#include "engine/partition/strategy.h"
#include "tests/effort.h"
#include "tests/partition/fused_graphs.h"
#include "tests/partition/joint_files.h"
#include "tests/random/random_graph.h"
#include "tests/random/same_meaning.h"

namespace recut {
namespace {

TEST_CASE("fusion: a chain is one kernel, and views are no obstacle", "[partition]") {
  CHECK(groups_of(parse(with_product(R"(
    %a = exp(%x)
    %v = permute(%a, [1, 0])
    %b = _to_copy(%v, dtype=f64)
    %c = relu(%b)
    results %c, %huge)"))) == std::vector<Names>{{"a", "b", "c"}});
}

TEST_CASE("fusion: a kernel goes on after a reduction of rows", "[partition]") {
  CHECK(groups_of(parse(with_product(R"(
    %y = relu(%x)
    %m = amax(%y, [1], true)
    %d = sub.Tensor(%y, %m)
    %e = exp(%d)
    %s = sum.dim_IntList(%e, [1], true)
    %q = div.Tensor(%e, %s)
    results %q, %huge)"))) == std::vector<Names>{{"y", "m", "d", "e", "s", "q"}});
  // Through views that leave the rows as they are. The product reads the mean, too, so that the
  // result stays apart.
  CHECK(groups_of(parse(with_product(R"(
    %o = parameter f32[1, 4]
    %i = parameter f32[20, 200]
    %h = mm(%x, %i)
    %p = var_mean.correction(%h, [1], correction=0)
    %v = getitem(%p, 0)
    %m = getitem(%p, 1)
    %r = rsqrt(%v)
    %a = unsqueeze(%m, 1)
    %b = view(%r, [10, 1])
    %c = sub.Tensor(%h, %a)
    %y = mul.Tensor(%c, %b)
    %z = mul.Tensor(%y, %a)
    %k = mm(%a, %o)
    results %z, %huge, %k)"))) == std::vector<Names>{{"p", "r", "c", "y"}});
}

TEST_CASE("fusion: other reductions end a kernel", "[partition]") {
  const auto groups = [](const std::string& body) { return groups_of(parse(with_product(body))); };
  // Of a square: each element reads the sum of another row.
  CHECK(groups(R"(
    %q = parameter f32[20, 20]
    %e = exp(%q)
    %s = sum.dim_IntList(%e, [1])
    %d = sub.Tensor(%q, %s)
    results %d, %huge)") == std::vector<Names>{{"e", "s"}});
  // Of rows of two kinds.
  CHECK(groups(R"(
    %s = sum.dim_IntList(%x, [1], true)
    %d = sub.Tensor(%x, %s)
    %c = sum.dim_IntList(%d, [0], true)
    %e = mul.Tensor(%d, %c)
    results %e, %huge)") == std::vector<Names>{{"s", "d"}});
  // Of too few rows for all threads, and of rows that don't lie together.
  CHECK(groups(R"(
    %l = parameter f32[4, 8192]
    %s = sum.dim_IntList(%l, [1], true)
    %d = sub.Tensor(%l, %s)
    %c = parameter f32[512, 64]
    %r = sum.dim_IntList(%c, [0], true)
    %e = sub.Tensor(%c, %r)
    results %d, %e, %huge)") == std::vector<Names>{});
  // What is reduced is read by the product as well: y can be made again of x alone.
  CHECK(groups(R"(
    %h = relu(%x)
    %s = sum.dim_IntList(%h, [1], true)
    %y = mul.Tensor(%h, %s)
    %k = mm(%h, %w)
    results %y, %huge, %k)") == std::vector<Names>{{"h", "s"}});
}

TEST_CASE("fusion: what others read joins where it runs over as many elements", "[partition]") {
  CHECK(groups_of(parse(with_product(R"(
    %a = exp(%x)
    %b = relu(%a)
    %g = mul.Tensor(%t, %a)
    %c = mm(%b, %w)
    results %c, %huge
    gradients %g, none)"))) == std::vector<Names>{{"a", "b"}});
  // One row is spread over all: it stays by itself, since the product reads it as well.
  CHECK(groups_of(parse(with_product(R"(
    %r = slice.Tensor(%x, 0, 0, 1)
    %a = exp(%r)
    %b = add.Tensor(%x, %a)
    %c = mm(%a, %w)
    %d = mm(%b, %w)
    results %c, %d, %huge)"))) == std::vector<Names>{});
}

TEST_CASE("fusion: results, passes and draws stay apart", "[partition]") {
  // a is read by the result's kernel and by backward: it must be able to run again.
  CHECK(groups_of(parse(with_product(R"(
    %a = exp(%x)
    %b = relu(%a)
    %g = mul.Tensor(%t, %a)
    results %b, %huge
    gradients %g, none)"))) == std::vector<Names>{});
  // h needs no tangent, g does, and h is none of what moves (inlining_test.cpp).
  CHECK(groups_of(parse(with_product(R"(
    %h = cosh(%x)
    %g = mul.Tensor(%t, %h)
    results %huge
    gradients %g, none)"))) == std::vector<Names>{});
  CHECK(groups_of(parse(with_product(R"(
    %r = rand([10, 20])
    %m = gt.Scalar(%r, 0.5)
    %a = mul.Tensor(%x, %m)
    %b = relu(%a)
    results %b, %huge)"))) == std::vector<Names>{{"a", "b"}});
}

TEST_CASE("fusion: no kernel waits for itself", "[partition]") {
  // b would run before the product that it feeds, and after it.
  CHECK(groups_of(parse(with_product(R"(
    %v = parameter f32[20, 20]
    %a = exp(%x)
    %p = mm(%a, %v)
    %b = add.Tensor(%a, %p)
    %c = relu(%b)
    results %c, %huge)"))) == std::vector<Names>{{"b", "c"}});
}

TEST_CASE("fusion: no kernel has more alive than the largest call", "[partition]") {
  const char* text = R"(graph "g" {
    %x = parameter f32[100]
    %t = tangent f32[100]
    %a = exp(%x)
    %b = relu(%a)
    %c = sin(%b)
    %p = mul.Tensor(%t, %a)
    %q = mul.Tensor(%p, %b)
    %r = mul.Tensor(%q, %c)
    results %c
    gradients %r
  })";
  // a and b together leave two storages, which is the most that any call has here.
  const Graph graph = parse(text);
  const StorageModel storages(graph);
  const FusionGroups groups = fuse_pointwise(graph, storages);
  const JointProblem eager(graph, storages), fused(graph, storages, {}, {}, groups);
  const auto widest = [](const Problem& problem) {
    std::int64_t most = 0;
    for (std::int32_t c = 0; c < problem.size(); ++c) {
      if (c == problem.border() || c == problem.end()) continue;
      std::int64_t bytes = 0;
      for (const Problem::Read& read : problem.reads(c)) bytes += problem.bytes(read.storage);
      for (std::int32_t s = problem.first_storage(c); s < problem.first_storage(c + 1); ++s)
        bytes += problem.bytes(s);
      most = std::max(most, bytes);
    }
    return most;
  };
  CHECK(widest(fused.problem()) <= widest(eager.problem()));
}

TEST_CASE("fusion: a kernel takes one launch and the traffic with the outside", "[partition]") {
  const Graph graph = parse(with_product(R"(
    %v = permute(%x, [1, 0])
    %a = exp(%x)
    %s = sin(%v)
    %u = permute(%s, [1, 0])
    %b = add.Tensor(%a, %u)
    %k = sum(%b)
    results %k, %huge)"));
  const StorageModel storages(graph);
  const FusionGroups groups = fuse_pointwise(graph, storages);
  REQUIRE(groups.size() == 1);
  REQUIRE(groups.members(0).size() == 4);
  DeviceRates rates;
  rates.bytes_per_second = 1e6;
  rates.launch_micros = 7;
  // x once, though it is read through a view as well; one number is written.
  CHECK(kernel_traffic(graph, storages, groups, groups.members(0)) == 800 + 4);
  CHECK(kernel_micros(graph, storages, groups, groups.members(0), rates) == 7 + 800 + 4);
  const NodeId a = graph.find("a");
  CHECK(kernel_micros(graph, storages, FusionGroups(), {&a, 1}, rates) ==
        node_micros(graph, a, rates));
  CHECK(kernel_traffic(graph, storages, FusionGroups(), {&a, 1}) == node_traffic(graph, a));
}

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
    const std::int64_t to = kernel(maker_of(graph, id));
    waits.emplace(to, 0);
    for (const NodeId operand : graph[id].operands) {
      const std::int64_t from = kernel(maker_of(graph, operand));
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
    options.bound_moments = 1;
    options.bound_states = 100;
    const peak::Outcome outcome = peak::solve(
        joint.problem(), std::max<std::int64_t>(1, once.peak() * percent / 100), options);
    const Plan plan = joint.plan(outcome.sequence);
    const Replay figures = replayed(graph, storages, plan, groups);
    REQUIRE(figures.peak_bytes == outcome.peak);
    const double extra = joint.micros(outcome.extra);
    REQUIRE(std::abs(figures.recompute_us - extra) <= 1e-3 + 1e-6 * extra);
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
  CHECK(std::abs(figures.recompute_us - joint.micros(joint.pinned_duration())) < 1e-5);
}

}  // namespace
}  // namespace recut
