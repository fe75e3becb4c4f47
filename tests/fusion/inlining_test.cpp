// Kernels of backward inline cheap calls of forward.
#include <catch2/catch_test_macros.hpp>

#include "engine/eval/evaluator.h"
#include "engine/partition/replay.h"
#include "tests/fusion/fused_graphs.h"
#include "tests/random/same_meaning.h"
#include "tests/schedule/planned.h"

namespace recut {
namespace {

// The inlined calls of a kernel, by the name of its first own call.
Names inlined_before(const std::string& own, const Graph& graph, const FusionGroups& groups) {
  const std::int32_t g = groups.group(nodes(graph, {own}).front());
  if (g == FusionGroups::kAlone) return {};
  const auto inlined = groups.inlined(g);
  return names(graph, {inlined.begin(), inlined.end()});
}
Names inlined_before(const std::string& own, const std::string& text, const Names& apart = {}) {
  const Graph graph = parse(text);
  return inlined_before(
      own, graph, fuse_pointwise(graph, StorageModel(graph), Fusion::rows, nodes(graph, apart)));
}

// Forward and backward of p/2 (1 + tanh(p)) between two products. Backward reads h, a and u.
std::string gate() {
  return with_product(R"(
    %y = parameter f32[30, 20]
    %i = parameter f32[20, 40]
    %v = parameter f32[40, 10]
    %s = tangent f32[30, 10]
    %p = mm(%y, %i)
    %h = mul.Scalar(%p, 0.5)
    %u = tanh(%p)
    %a = add.Scalar(%u, 1)
    %z = mul.Tensor(%h, %a)
    %o = mm(%z, %v)
    %vt = permute(%v, [1, 0])
    %gz = mm(%s, %vt)
    %gh = mul.Tensor(%gz, %a)
    %ga = mul.Tensor(%gz, %h)
    %gu = tanh_backward(%ga, %u)
    %gm = mul.Scalar(%gh, 0.5)
    %gp = add.Tensor(%gm, %gu)
    %yt = permute(%y, [1, 0])
    %gi = mm(%yt, %gp)
    results %o, %huge
    gradients %gi)");
}

TEST_CASE("inlining: what a kernel reads anyway makes what it needn't read", "[fusion]") {
  const Graph graph = parse(gate());
  const StorageModel storages(graph);
  const FusionGroups groups = fuse_pointwise(graph, storages);
  CHECK(inlined_before("gh", graph, groups) == Names{"a"});
  const auto storage_of = [&](const char* name) {
    return storages.owned(nodes(graph, {name}).front()).front();
  };
  CHECK(groups.inner(storage_of("a")));
  CHECK_FALSE(groups.inner(storage_of("u")));
  CHECK_FALSE(groups.inner(storage_of("h")));

  const test::Scheduled planned(graph, true, NoBudget{});
  CHECK(names(graph, planned.plan.backward) ==
        Names{"vt", "gz", "a", "gh", "ga", "gu", "gm", "gp", "yt", "gi"});
  Names saved = names(graph, planned.plan.saved);
  std::sort(saved.begin(), saved.end());
  CHECK(saved == Names{"h", "u"});
  planned.require_sound(planned.make());

  // One tensor less is held at the border than with the same kernels and a read.
  const FusionGroups reading = fuse_pointwise(graph, storages, Fusion::rows, nodes(graph, {"a"}));
  CHECK(inlined_before("gh", graph, reading).empty());
  const auto held = [&](const FusionGroups& kernels) {
    PlanRequest request;
    request.groups = kernels;
    const auto outcome = make_plan(graph, request);
    REQUIRE(outcome.ok());
    const auto figures = replay(graph, storages, outcome->plan, {}, kernels);
    REQUIRE(figures.ok());
    CHECK(figures->recompute_us == 0);
    CHECK(figures->recomputed.empty());
    CHECK(std::count_if(figures->steps.begin(), figures->steps.end(), [](const PlanStep& step) {
            return step.inlined;
          }) == (kernels.inlined(kernels.group(graph.find("gh"))).empty() ? 0 : 1));
    return figures->saved_bytes;
  };
  CHECK(held(reading) - held(groups) == 30 * 40 * 4);
}

TEST_CASE("inlining: plans mean the same, and say where a kernel's calls don't stand together",
          "[fusion]") {
  const test::Scheduled planned(parse(gate()), true, NoBudget{});
  const Inputs inputs = test::inputs_for(planned.graph, 1, test::Values::ordinary);
  const auto program = evaluate(planned.graph, inputs);
  const auto run = evaluate(planned.graph, planned.plan, inputs);
  REQUIRE(program.ok());
  REQUIRE(run.ok());
  CHECK(test::outputs_difference(program->outputs, run->outputs).empty());

  Plan apart = planned.plan;
  const NodeId again = apart.backward[2];
  apart.backward.erase(apart.backward.begin() + 2);
  apart.backward.insert(apart.backward.begin() + 1, again);
  const auto refused = replay(planned.graph, planned.storages, apart, {}, planned.groups);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.diagnostics().front().message.find("does not run together") != std::string::npos);
}

TEST_CASE("inlining: chains, and values that inputs make", "[fusion]") {
  // Two calls deep, and one that two of them read.
  CHECK(inlined_before("g", with_product(R"(
    %i = parameter f32[20, 30]
    %s = tangent f32[10, 30]
    %p = mm(%x, %i)
    %b = neg(%p)
    %c = abs(%b)
    %d = add.Tensor(%b, %c)
    %o = mm(%d, %w2)
    %g = mul.Tensor(%s, %p)
    %k = mul.Tensor(%g, %d)
    %q = mm(%k, %w2)
    results %o, %huge
    gradients %q)")
                                .replace(0, 11, "graph \"g\" {\n %w2 = parameter f32[30, 7]")) ==
        Names{"b", "c", "d"});
  // The mask is smaller than what it is computed from, the conversion larger.
  const std::string inputs = R"(graph "g" {
    %x = parameter f32[10, 20]
    %n = parameter bf16[10, 20]
    %t = tangent f32[10, 20]
    %m = gt.Scalar(%x, 0)
    %e = exp(%m)
    %f = _to_copy(%n, dtype=f32)
    %o = exp(%f)
    %z = full([], 0, dtype=f32)
    %g = where.self(%m, %t, %z)
    %k = mul.Tensor(%g, %f)
    %q = exp(%k)
    results %e, %o
    gradients %q
  })";
  CHECK(inlined_before("g", inputs) == Names{"f", "z"});
  CHECK(inlined_before("g", inputs, {"f"}) == Names{"z"});
}

TEST_CASE("inlining: what all of its readers compute for themselves vanishes", "[fusion]") {
  const Graph graph = parse(R"(graph "g" {
    %x = parameter f32[30, 20]
    %w = parameter f32[20, 40]
    %v = parameter f32[40, 10]
    %t = tangent f32[30, 40]
    %p = mm(%x, %w)
    %r = relu(%p)
    %o = mm(%r, %v)
    %m = le.Scalar(%r, 0)
    %z = full([], 0, dtype=f32)
    %g = where.self(%m, %z, %t)
    %k = mul.Tensor(%g, %p)
    %q = mm(%k, %v)
    results %o
    gradients %q
  })");
  const StorageModel storages(graph);
  const auto kernels = [&](const Names& apart) {
    return fuse_pointwise(graph, storages, Fusion::rows, nodes(graph, apart));
  };
  const auto vanishing = [&](const FusionGroups& groups) {
    Names found;
    for (const NodeId id : graph.order())
      if (groups.vanishes(id)) found.push_back(graph.node_name(id));
    return found;
  };
  CHECK(inlined_before("g", graph, kernels({})) == Names{"r", "m", "z"});
  CHECK(vanishing(kernels({})) == Names{"m", "z"});
  CHECK(inlined_before("g", graph, kernels({"m"})) == Names{"z"});
  CHECK(vanishing(kernels({"m"})) == Names{"z"});

  const test::Scheduled planned(graph, true, NoBudget{});
  CHECK(names(graph, planned.plan.forward) == Names{"p", "r", "o"});
  CHECK(names(graph, planned.plan.backward) == Names{"r", "m", "z", "g", "k", "q"});
  CHECK(names(graph, planned.plan.saved) == Names{"p"});
  planned.require_sound(planned.make());
}

TEST_CASE("inlining: expensive calls, and calls that it would save more for, are read",
          "[fusion]") {
  const auto with =
      [](const std::string& made, const std::string& read) {
        return R"(graph "g" {
    %x = parameter f32[30, 20]
    %w = parameter f32[20, 40]
    %v = parameter f32[40, 10]
    %t = tangent f32[30, 40]
    %p = mm(%x, %w)
    )" + made + R"(
    %o = mm(%a, %v)
    %g = mul.Tensor(%t, %a)
    )" + read + R"(
    %q = mm(%k, %v)
    results %o
    gradients %q
  })";
      };
  CHECK(inlined_before("g", with("%a = neg(%p)", "%k = mul.Tensor(%g, %p)")) == Names{"a"});
  CHECK(inlined_before("g", with("%a = tanh(%p)", "%k = mul.Tensor(%g, %p)")) == Names{});
  CHECK(inlined_before("g", with("%a = neg(%p)", "%k = mul.Tensor(%g, %t)")) == Names{});
  // Seventeen calls.
  std::string long_chain = "%a0 = neg(%p)\n";
  for (int n = 1; n < 16; ++n)
    long_chain += "%a" + std::to_string(n) + " = neg(%a" + std::to_string(n - 1) + ")\n";
  CHECK(
      inlined_before("g", with(long_chain + "%a = neg(%a14)", "%k = mul.Tensor(%g, %p)")).size() ==
      16);
  CHECK(inlined_before("g", with(long_chain + "%a = neg(%a15)", "%k = mul.Tensor(%g, %p)")) ==
        Names{});
}

// Forward and backward around a kernel of backward, %g to %k, that is written as text. Forward
// makes p, and of it a, which it reads.
std::string around(const std::string& kernel) {
  return R"(graph "g" {
    %x = parameter f32[30, 20]
    %w = parameter f32[20, 40]
    %v = parameter f32[40, 10]
    %t = tangent f32[30, 40]
    %p = mm(%x, %w)
    %a = tanh(%p)
    %o = mm(%a, %v)
    )" + kernel +
         R"(
    %q = mm(%k, %v)
    results %o
    gradients %q
  })";
}

TEST_CASE("inlining: what one kernel alone reads moves into it", "[fusion]") {
  // As in the gradient of GELU by tanh: d and f are read by k's kernel only.
  const Graph graph = parse(around(R"(
    %b = mul.Tensor(%a, %a)
    %d = sub.Tensor(1, %b)
    %c = pow.Tensor_Scalar(%p, 2)
    %f = mul.Tensor(%c, 3)
    %g = mul.Tensor(%t, %d)
    %k = mul.Tensor(%g, %f))"));
  const StorageModel storages(graph);
  const FusionGroups groups = fuse_pointwise(graph, storages);
  CHECK(inlined_before("g", graph, groups) == Names{"b", "d", "c", "f"});
  for (const NodeId id : nodes(graph, {"b", "d", "c", "f"})) CHECK(groups.vanishes(id));
  const test::Scheduled planned(graph, true, NoBudget{});
  CHECK(names(graph, planned.plan.saved) == Names{"p", "a"});
  planned.require_sound(planned.make());

  const auto moved = [](const std::string& made, const std::string& kernel = "") {
    return inlined_before(
        "g", around(made + (kernel.empty() ? "%g = mul.Tensor(%t, %d)\n%k = neg(%g)" : kernel)));
  };
  CHECK(moved("%d = neg(%a)\n") == Names{"d"});
  // One that somebody else reads, too, stays where it is, and so does what takes fewer bytes than
  // what it is made from.
  CHECK(moved("%d = neg(%a)\n",
              "%r = mm(%d, %v)\n%g = mul.Tensor(%t, %d)\n%h = neg(%g)\n%i = mm(%h, %v)\n"
              "%j = add.Tensor(%r, %i)\n%l = permute(%v, [1, 0])\n%k = mm(%j, %l)") == Names{});
  CHECK(moved("%d = gt.Scalar(%a, 0)\n") == Names{});
  CHECK(moved("%d = mul.Tensor(%a, %p)\n") == Names{});
  CHECK(inlined_before("g", around("%d = neg(%a)\n%g = mul.Tensor(%t, %d)\n%k = neg(%g)"), {"d"}) ==
        Names{});
}

TEST_CASE("inlining: an expensive call moves where it runs once, and is not computed twice",
          "[fusion]") {
  const auto moved = [](const std::string& text) { return inlined_before("g", around(text)); };
  CHECK(moved("%d = exp(%a)\n%g = mul.Tensor(%t, %d)\n%k = neg(%g)") == Names{"d"});
  CHECK(moved("%d = cosh(%a)\n%g = mul.Tensor(%t, %d)\n%k = neg(%g)") == Names{});
  // Forward computes a in any case.
  CHECK(moved("%d = add.Tensor(%a, 1)\n%g = mul.Tensor(%t, %d)\n%k = neg(%g)") == Names{"d"});
  // Of rows: behind the sum alone, before it as well, and of rows that are read for each element.
  const std::string rows =
      "%s = sum.dim_IntList(%g, [1], true)\n%h = mul.Tensor(%s, %d)\n%k = sub.Tensor(%g, %h)";
  CHECK(moved("%d = exp(%a)\n%g = mul.Tensor(%t, %p)\n" + rows) == Names{"d"});
  CHECK(moved("%d = exp(%a)\n%g = mul.Tensor(%t, %d)\n" + rows) == Names{});
  CHECK(moved("%d = div.Tensor(%a, 6)\n%g = mul.Tensor(%t, %d)\n" + rows) == Names{"d"});
  CHECK(moved("%d = pow.Tensor_Scalar(%a, 3)\n%g = mul.Tensor(%t, %d)\n" + rows) == Names{"d"});
  CHECK(moved("%d = pow.Tensor_Scalar(%a, 4)\n%g = mul.Tensor(%t, %d)\n" + rows) == Names{});
  // What is read by cheap calls that move.
  CHECK(moved("%d = exp(%a)\n%e = neg(%d)\n%f = add.Tensor(%e, %d)\n%g = mul.Tensor(%t, %f)\n" +
              std::string("%s = sum.dim_IntList(%g, [1], true)\n%k = sub.Tensor(%g, %s)")) ==
        Names{"e", "f"});
  CHECK(moved("%m = mean.dim(%p, [1], true)\n%d = exp(%m)\n%g = mul.Tensor(%t, %d)\n"
              "%k = neg(%g)") == Names{});
}

// Read from memory, n would be a value more than the kernel of the sum holds.
TEST_CASE("inlining: a kernel goes on over rows where it makes what it would have to read",
          "[fusion]") {
  const Graph graph = parse(around(R"(
    %g = mul.Tensor(%t, %a)
    %s = sum.dim_IntList(%g, [1], true)
    %n = neg(%a)
    %k = prims.fma(%n, %s, %g))"));
  CHECK(groups_of(graph) == std::vector<Names>{{"g", "s", "k"}});
  CHECK(inlined_before("g", graph, fuse_pointwise(graph, StorageModel(graph))) == Names{"n"});
}

}  // namespace
}  // namespace recut
