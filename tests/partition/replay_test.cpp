// The memory model on graphs small enough to count by hand.
#include "engine/partition/replay.h"
#include "engine/cost/cost.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/partition/graphs.h"

namespace recut {
namespace {

using Names = std::vector<std::string>;

// y = exp(relu(x)) and its gradient; every value has 400 bytes.
Graph chain() {
  return parse(R"(graph "chain" {
    %x = parameter f32[100]
    %t = tangent f32[100]
    %a = relu(%x)
    %b = exp(%a)
    %g = mul.Tensor(%t, %b)
    %zero = le.Scalar(%a, 0)
    %dx = where.self(%zero, %t, %g)
    results %b
    gradients %dx
  })");
}

Plan plan_of(const Graph& graph, const Names& forward, const Names& saved, const Names& backward) {
  return {nodes(graph, forward), nodes(graph, saved), nodes(graph, backward)};
}

std::vector<std::int64_t> live_bytes(const Replay& replay) {
  std::vector<std::int64_t> bytes;
  for (const PlanStep& step : replay.steps) bytes.push_back(step.live_bytes);
  return bytes;
}

std::string fault_of(const Graph& graph, const Plan& plan) {
  const auto result = replay(graph, plan);
  return result.ok() ? "" : result.diagnostics().front().message;
}

TEST_CASE("replay: saved values live to their last use, results to the end", "[partition]") {
  const Graph graph = chain();
  const auto result = replay(graph, plan_of(graph, {"a", "b"}, {"a", "b"}, {"g", "zero", "dx"}));
  REQUIRE(result.ok());
  // a | a b | a b g | a b g zero (100 bytes of bool) | b g zero dx
  CHECK(live_bytes(*result) == std::vector<std::int64_t>{400, 800, 1200, 1300, 1300});
  CHECK(result->peak_bytes == 1300);
  CHECK(result->peak_step == 3);
  CHECK(result->saved_bytes == 800);
  CHECK(result->recomputed.empty());
  CHECK(result->recompute_us == 0);
  std::vector<InstanceClass> kinds;
  for (const StorageInstance& i : result->instances) kinds.push_back(i.kind);
  CHECK(kinds == std::vector{InstanceClass::saved, InstanceClass::result,
                             InstanceClass::backward_temporary, InstanceClass::backward_temporary,
                             InstanceClass::gradient});
}

TEST_CASE("replay: what runs again is a new instance and is paid for again", "[partition]") {
  const Graph graph = chain();
  const auto result = replay(graph, plan_of(graph, {"a", "b"}, {}, {"a", "zero", "b", "g", "dx"}));
  REQUIRE(result.ok());
  // The result b stays; the recomputed b is another.
  CHECK(live_bytes(*result) == std::vector<std::int64_t>{400, 800, 800, 900, 1300, 1300, 1300});
  CHECK(names(graph, result->recomputed) == Names{"a", "b"});
  CHECK(result->saved_bytes == 0);
  const double one = node_micros(graph, graph.find("a"), {});
  CHECK(one == 1e6 * 800 / 3e12);
  CHECK(result->recompute_us == 2 * one);
  CHECK(result->instances[2].kind == InstanceClass::recomputed);
  CHECK(result->steps[2].again);
}

TEST_CASE("replay: views cost nothing and keep their storage alive", "[partition]") {
  const Graph graph = parse(R"(graph "views" {
    %x = parameter f32[10, 20]
    %t = tangent f32[10, 20]
    %a = exp(%x)
    %v = permute(%a, [1, 0])
    %w = permute(%v, [1, 0])
    %y = relu(%a)
    %g = mul.Tensor(%t, %w)
    results %y
    gradients %g
  })");
  const StorageModel storages(graph);
  const auto node = [&](const char* name) { return graph.find(name); };
  CHECK(storages.size() == 3);
  CHECK(storages.storages_of(node("w")).size() == 1);
  CHECK(storages.storages_of(node("w"))[0] == storages.storages_of(node("a"))[0]);
  CHECK(storages.owned(node("w")).empty());
  CHECK(storages.storages_of(node("x")).empty());

  // Saving the view saves the storage, once.
  const auto result = replay(graph, plan_of(graph, {"a", "v", "y"}, {"v", "a"}, {"w", "g"}));
  REQUIRE(result.ok());
  CHECK(result->saved_bytes == 800);
  CHECK(live_bytes(*result) == std::vector<std::int64_t>{800, 800, 1600, 1600, 2400});
}

TEST_CASE("replay: each output of a call has a storage of its own", "[partition]") {
  const Graph graph = parse(R"(graph "outputs" {
    %x = parameter f32[10, 20]
    %t = tangent f32[10, 1]
    %s = var_mean.correction(%x, [1], correction=0, keepdim=true)
    %var = getitem(%s, 0)
    %mean = getitem(%s, 1)
    %y = mul.Tensor(%var, %var)
    %g = mul.Tensor(%t, %mean)
    %e = expand(%g, [10, 20])
    results %y
    gradients %e
  })");
  const StorageModel storages(graph);
  REQUIRE(storages.storages_of(graph.find("s")).size() == 2);
  REQUIRE(storages.storages_of(graph.find("mean")).size() == 1);
  CHECK(storages.storages_of(graph.find("mean"))[0] == storages.storages_of(graph.find("s"))[1]);
  const auto result =
      replay(graph, plan_of(graph, {"s", "var", "mean", "y"}, {"mean"}, {"g", "e"}));
  REQUIRE(result.ok());
  // s makes 40 + 40; var dies after y; the gradient is a view of g.
  CHECK(live_bytes(*result) == std::vector<std::int64_t>{80, 80, 80, 120, 120, 80});
  CHECK(result->saved_bytes == 40);
}

TEST_CASE("replay: a plan without steps has no peak", "[partition]") {
  const Graph graph = parse("graph \"g\" {\n %x = input f32[2]\n results %x\n}");
  const auto result = replay(graph, Plan());
  REQUIRE(result.ok());
  CHECK(result->peak_bytes == 0);
  CHECK_FALSE(result->peak_step);
}

TEST_CASE("replay: says why a plan can't run", "[partition]") {
  const Graph graph = chain();
  CHECK(fault_of(graph, plan_of(graph, {"b"}, {}, {})) ==
        "forward step 'b': its operand 'a' is not available");
  CHECK(fault_of(graph, plan_of(graph, {"a", "b"}, {"a"}, {"zero", "g", "dx"})) ==
        "backward step 'g': its operand 'b' is not available");
  CHECK(fault_of(graph, plan_of(graph, {"a"}, {}, {"a", "b", "g", "zero", "dx"})) ==
        "'b' is a result but not computed in forward");
  CHECK(fault_of(graph, plan_of(graph, {"a", "b"}, {"g"}, {"a", "b", "zero", "dx"})) ==
        "'g' is saved but not computed in forward");
  CHECK(fault_of(graph, plan_of(graph, {"a", "b"}, {"a", "b"}, {"zero"})) ==
        "'dx' is a gradient but neither saved nor computed in backward");
  CHECK(fault_of(graph, plan_of(graph, {"x", "a", "b"}, {}, {})) ==
        "'x' in 'forward' of the plan is an input, expected a call");
  CHECK(fault_of(graph, Plan{{NodeId()}, {}, {}}) ==
        "a node in 'forward' of the plan is not one of the graph");
}

TEST_CASE("replay: a random draw runs once", "[partition]") {
  const Graph graph = parse(R"(graph "draw" {
    %x = parameter f32[8]
    %t = tangent f32[8]
    %r = rand([8])
    %y = mul.Tensor(%x, %r)
    %g = mul.Tensor(%t, %r)
    results %y
    gradients %g
  })");
  CHECK(replay(graph, plan_of(graph, {"r", "y"}, {"r"}, {"g"})).ok());
  CHECK(fault_of(graph, plan_of(graph, {"r", "y"}, {}, {"r", "g"})) ==
        "backward step 'r': rand draws anew each time and may run only once");
}

TEST_CASE("replay: values of an exabyte are refused, not overflown", "[partition]") {
  std::string text = "graph \"huge\" {\n%x = parameter f32[200000000000000]\n";
  for (int i = 0; i < 1500; ++i)
    text += "%w" + std::to_string(i) + " = add.Scalar(%x, " + std::to_string(i) + ")\n";
  const Graph graph = parse(text + "results %w0\n}");
  const auto result = replay(graph, plan_of(graph, {"w0"}, {}, {}));
  REQUIRE_FALSE(result.ok());
  CHECK(result.diagnostics().front().message.find("add up to more than") != std::string::npos);
}

}  // namespace
}  // namespace recut
