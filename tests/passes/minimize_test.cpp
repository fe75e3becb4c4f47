// Test-case reduction: graphs shrink while a check fails.
#include "engine/passes/minimize.h"

#include <catch2/catch_test_macros.hpp>

#include "engine/input/graph_file_reader.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "tests/input/parse.h"
#include "tests/paths.h"

namespace recut {
namespace {

// Fails for graphs with such calls, one of the second after one of the first.
GraphCheck fails_with(Op first, Op second) {
  return [first, second](const Graph& graph) -> Result<bool> {
    bool seen = false;
    for (const NodeId id : graph.order()) {
      seen = seen || graph[id].op == first;
      if (seen && graph[id].op == second) return false;
    }
    return true;
  };
}

TEST_CASE("minimize: what the failure needs stays, and nothing else", "[passes]") {
  const Graph graph = parse(R"(graph "g" {
  %x = input f32[4, 3]
  %y = input f32[4, 3]
  %a = exp(%x)
  %b = tanh(%a)
  %c = add.Tensor(%b, %y)
  %d = relu(%c)
  %e = sum(%d)
  %f = cos(%y)
  results %e, %f, %c
}
)");
  const auto found = minimize(graph, fails_with(Op::tanh, Op::relu));
  REQUIRE(found.ok());
  CHECK(print(found->graph) == R"(graph "g" {
  %a = constant f32[1, 1]
  %b = tanh(%a) : f32[1, 1]
  %d = relu(%b) : f32[1, 1]
  results %d
}
)");
  CHECK(found->checks < 60);
}

TEST_CASE("minimize: gradients keep their indices while there are any", "[passes]") {
  const Graph graph = parse(R"(graph "g" {
  %w = parameter f32[3]
  %x = input f32[3]
  %v = parameter f32[3]
  %t = tangent f32[3]
  %a = mul.Tensor(%w, %x)
  %b = mul.Tensor(%a, %v)
  %g = mul.Tensor(%t, %x)
  %h = mul.Tensor(%t, %a)
  results %b
  gradients %g, none, %h
}
)");
  const auto fails = [](const Graph& g) -> Result<bool> {
    return g.gradients.empty() || g.find("h") == NodeId();
  };
  const auto found = minimize(graph, fails);
  REQUIRE(found.ok());
  CHECK(verify(found->graph).empty());
  CHECK(found->graph.gradients.size() == 1);
  CHECK(found->graph.node_name(found->graph.gradients[0]) == "h");
  CHECK(found->graph.results.empty());
}

TEST_CASE("minimize: a real graph becomes the few calls that matter", "[passes]") {
  const auto file = read_graph_file(RECUT_SOURCE_DIR "/samples/joint/tiny_lm.json.gz");
  REQUIRE(file.ok());
  const auto found = minimize(file->graph, fails_with(Op::erf, Op::bmm));
  REQUIRE(found.ok());
  CHECK(verify(found->graph).empty());
  CHECK(found->graph.order().size() <= 5);
  const auto again = minimize(found->graph, fails_with(Op::erf, Op::bmm));
  REQUIRE(again.ok());
  CHECK(print(again->graph) == print(found->graph));
}

TEST_CASE("minimize: dimensions halve as far as the failure lets them", "[passes]") {
  const Graph graph = parse(R"(graph "g" {
  %x = input f32[2, 24, 64]{1536, 1, 24}
  %e = permute(%x, [2, 0, 1])
  %w = view(%e, [64, 48])
  %s = sum.dim_IntList(%w, [1])
  results %s
}
)");
  // A view of at least 20 columns, of a value with at least five planes.
  const auto fails = [](const Graph& g) -> Result<bool> {
    for (const NodeId id : g.order())
      if (g.op(id).packet == "view" && g.type(id).shape.back() >= 20)
        for (const NodeId operand : g[id].operands)
          if (g.type(operand).rank() == 3 && g.type(operand).shape[0] >= 5) return false;
    return true;
  };
  const auto found = minimize(graph, fails);
  REQUIRE(found.ok());
  CHECK(print(found->graph) == R"(graph "g" {
  %e = constant f32[8, 2, 12]{12, 96, 1}
  %w = view(%e, [8, 24]) : f32[8, 24]
  results %w
}
)");
}

TEST_CASE("minimize: a check that holds or can't be asked is said", "[passes]") {
  const Graph graph = parse("graph \"g\" {\n  %x = input f32[2]\n  results %x\n}\n");
  const auto holds = minimize(graph, [](const Graph&) -> Result<bool> { return true; });
  REQUIRE_FALSE(holds.ok());
  CHECK(holds.diagnostics().front().message.find("the check holds") != std::string::npos);
  int asked = 0;
  const auto broken = minimize(graph, [&](const Graph&) -> Result<bool> {
    if (++asked > 1) return error("no answer");
    return false;
  });
  CHECK((broken.ok() || broken.diagnostics().front().message == "no answer"));
}

}  // namespace
}  // namespace recut
