// Bisection of passes, on passes with deliberate faults.
#include <catch2/catch_test_macros.hpp>

#include "engine/ir/printer.h"
#include "engine/ir/rebuild.h"
#include "engine/passes/bisect.h"
#include "engine/passes/rewrite_nodes.h"
#include "engine/passes/runner.h"
#include "tests/input/parse.h"

namespace recut {
namespace {

using Verdict = Bisection::Verdict;

// Sums of which the pass below changes every one, wrongly only where an operand is a product.
Graph sums() {
  return parse(R"(graph "sums" {
    %x = input f32[8]
    %y = input f32[8]
    %a = add.Tensor(%x, %y)
    %b = add.Tensor(%a, %x)
    %product = mul.Tensor(%b, %y)
    %c = add.Tensor(%product, %x)
    %d = add.Tensor(%c, %y)
    %dead = exp(%a)
    results %d
  })");
}

// a + b  =>  b + a, but a product + b  =>  b - product.
PassResult swap_wrongly(const Graph& graph) {
  return rewrite_nodes(
      graph,
      [&](Graph& to, NodeId old, const std::vector<Argument>& arguments) -> std::optional<Rewrite> {
        if (graph[old].op != Op::add_Tensor) return std::nullopt;
        const bool wrong = to[*arguments[0].get<NodeId>()].op == Op::mul_Tensor;
        const Origin origin{to.unused_name("swapped"), "", -1};
        const auto node =
            wrong ? to.make(Op::sub_Tensor, {arguments[1], arguments[0], Absent{}}, origin)
                  : to.make(Op::add_Tensor, {arguments[1], arguments[0], Absent{}}, origin);
        REQUIRE(node.ok());
        return Rewrite{wrong ? "wrong" : "right", *node};
      });
}

PassResult drop_dead(const Graph& graph) {
  PassResult result{without_dead_nodes(graph), false, {}};
  for (const NodeId id : graph.order())
    if (!result.graph.contains(id)) result.changes.push_back({"unused", id, {}, {}});
  result.changed = !result.changes.empty();
  return result;
}

// A faulty pass that reports other changes than it makes.
PassResult negate_secretly(const Graph& graph) {
  PassResult result = rewrite_nodes(
      graph, [](Graph&, NodeId, const std::vector<Argument>&) { return std::optional<Rewrite>(); });
  const auto negated = result.graph.make(Op::neg, {result.graph.results.front()}, {});
  result.graph.results.front() = *negated;
  result.changed = true;
  result.changes.push_back({"told", graph.results.front(), {graph.results.front()}, {}});
  return result;
}

PassResult break_graph_bisect(const Graph& graph) {
  Graph broken = graph.empty_like();
  broken.results = graph.results;
  return {std::move(broken), true, {}};
}

Bisection searched(const Graph& graph, const std::vector<Pass>& passes) {
  const auto check = same_values_check(graph, {}, 1);
  REQUIRE(check.ok());
  auto found = bisect_passes(graph, passes, {}, *check);
  REQUIRE(found.ok());
  return std::move(*found);
}

TEST_CASE("bisect: the guilty pass, its change and its node", "[passes]") {
  const Graph graph = sums();
  const Bisection found =
      searched(graph, {{"dead_code", "", drop_dead}, {"swap", "", swap_wrongly}});
  CHECK(found.verdict == Verdict::guilty_change);
  CHECK(found.pass == "swap");
  REQUIRE(found.change);
  CHECK(found.change->rule == "wrong");
  CHECK(found.node == "c");
  CHECK(found.change_number == 3);
  CHECK(found.changes == 4);
  CHECK(found.checks <= 2 + 1 + 2);
  // One step apart: the third sum alone.
  REQUIRE((found.good && found.bad));
  CHECK(print(*found.good).find("sub.Tensor") == std::string::npos);
  CHECK(print(*found.bad).find("sub.Tensor") != std::string::npos);
}

TEST_CASE("bisect: wherever the guilty pass stands among many", "[passes]") {
  for (std::size_t place = 0; place < 6; ++place) {
    std::vector<Pass> passes(6, {"dead_code", "", drop_dead});
    passes[place] = {"swap", "", swap_wrongly};
    const Bisection found = searched(sums(), passes);
    INFO(place);
    CHECK(found.pass == "swap");
    CHECK(found.change);
  }
}

TEST_CASE("bisect: nobody is guilty, or everybody", "[passes]") {
  const Bisection good = searched(sums(), {{"dead_code", "", drop_dead}});
  CHECK(good.verdict == Verdict::all_good);
  CHECK(good.checks == 2);
  const Pass passes[] = {{"swap", "", swap_wrongly}};
  const auto never = [](const Graph&) -> Result<bool> { return false; };
  CHECK(bisect_passes(sums(), passes, {}, never)->verdict == Verdict::input_bad);
  const auto unable = [](const Graph&) -> Result<bool> { return error("no"); };
  CHECK_FALSE(bisect_passes(sums(), passes, {}, unable).ok());
}

TEST_CASE("bisect: a pass that says something else than it does is named alone", "[passes]") {
  const Bisection found = searched(sums(), {{"secret", "", negate_secretly}});
  CHECK(found.verdict == Verdict::guilty_pass);
  CHECK(found.pass == "secret");
  CHECK_FALSE(found.change);
}

TEST_CASE("bisect: a pass that leaves no sound graph is guilty of that", "[passes]") {
  const Bisection found =
      searched(sums(), {{"dead_code", "", drop_dead}, {"breaker", "", break_graph_bisect}});
  CHECK(found.verdict == Verdict::contract_violation);
  CHECK(found.pass == "breaker");
  CHECK(found.failure.find("failures") != std::string::npos);
}

TEST_CASE("bisect: the changes of every pass can be made in part", "[passes]") {
  const Graph graph = parse(R"(graph "many" {
    %x = input f32[4, 8]
    %one = full([8], 1.0, dtype=f32)
    %a = mul.Tensor(%x, %one)
    %v = view(%a, [32])
    %w = view(%v, [8, 4])
    %b = sub.Tensor(%w, 0)
    %dead = exp(%b)
    %dead2 = exp(%dead)
    %y = relu(%b)
    results %y
  })");
  const auto report = run_passes(graph, default_passes());
  REQUIRE(report.ok());
  const Graph* before = &report->input;
  for (const PassReport& pass : report->passes) {
    for (std::size_t count = 0; count <= pass.changes.size(); ++count) {
      INFO(pass.name << " " << count);
      const auto part = with_changes(*before, pass, count);
      REQUIRE(part);
      if (count == pass.changes.size()) CHECK(part->results == pass.graph.results);
    }
    before = &pass.graph;
  }
}

}  // namespace
}  // namespace recut
