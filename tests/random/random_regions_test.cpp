// Random graphs as regions: a condition has the values of its branch's graph alone, as it is read
// and printed, and after passes.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/input/text.h"
#include "engine/ir/copy.h"
#include "engine/ir/printer.h"
#include "engine/ir/region_call.h"
#include "engine/ir/verifier.h"
#include "engine/passes/pass_table.h"
#include "engine/passes/runner.h"
#include "engine/passes/stages.h"
#include "tests/effort.h"
#include "tests/random/random_graph.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

// A random graph that can be a region: a forward graph without constants.
std::optional<Graph> random_region(std::uint64_t seed) {
  Graph graph = random_graph(seed);
  for (const NodeId id : graph.order())
    if (graph[id].op == Op::constant) return std::nullopt;
  for (const NodeId id : graph.inputs())
    if (graph.input_kind(id) == InputKind::tangent) return std::nullopt;
  for (const NodeId id : graph.results)
    if (!id.valid()) return std::nullopt;
  if (!graph.gradients.empty() || graph.results.empty()) return std::nullopt;
  return graph;
}

// Another region with the same inputs and types of results.
Graph other_region(const Graph& region) {
  Graph other = deep_copy(region);
  for (NodeId& id : other.results) {
    const DType dtype = other.type(id).dtype;
    const Op op = dtype == DType::boolean ? Op::logical_not : Op::neg;
    id = other.append(op, {id}, {make_type(dtype, other.type(id).shape)}, {});
  }
  return other;
}

Graph conditional(const Graph& yes, const Graph& no) {
  std::string text = "graph \"conditional\" {\n  %predicate = input bool[]\n";
  std::string operands, types, items, results;
  for (std::size_t i = 0; i < yes.inputs().size(); ++i) {
    text += fmt::format("  %in{} = input {}\n", i, format(yes.type(yes.inputs()[i])));
    operands += fmt::format("{}%in{}", i == 0 ? "" : ", ", i);
  }
  for (std::size_t i = 0; i < yes.results.size(); ++i) {
    TensorType type = yes.type(yes.results[i]);
    types += (i == 0 ? "" : ", ") + format(make_type(type.dtype, type.shape));
    items += fmt::format("  %out{} = getitem(%call, {})\n", i, i);
    results += fmt::format("{}%out{}", i == 0 ? "" : ", ", i);
  }
  const auto region = [](std::string_view name, const Graph& graph) {
    const std::string whole = print(graph);
    return fmt::format("region \"{}\" {}", name, whole.substr(whole.find("{\n")));
  };
  text += fmt::format(
      "  %call = external torch.ops.higher_order.cond(%predicate, \"yes\", \"no\", [{}]) : ({})\n"
      "{}  results {}\n{}{}}}\n",
      operands, types, items, results, region("yes", yes), region("no", no));
  auto graph = parse_graph_text(text, "conditional");
  INFO(text);
  if (!graph) FAIL(format(graph.diagnostics()));
  return std::move(*graph);
}

// The outputs of a branch alone, of the conditional's values and as its only run.
Result<Evaluation> run_alone(const Graph& region, const Graph& whole, std::int64_t draw,
                             const Inputs& values) {
  Inputs inputs;
  for (std::size_t i = 0; i < region.inputs().size(); ++i)
    inputs[region.inputs()[i]] = values.at(whole.inputs()[i + 1]);
  EvaluateOptions options;
  options.runs = {{draw, 0}};
  return evaluate(region, inputs, options);
}

// `draw` is that of the call.
void check_values(const Graph& whole, std::int64_t draw, const Graph& yes, const Graph& no,
                  std::uint64_t seed) {
  Inputs values = inputs_for(whole, seed, Values::ordinary);
  for (const bool predicate : {false, true}) {
    Integers number(Shape{});
    number[0] = predicate ? 1 : 0;
    pack(number, values[whole.inputs().front()]);
    const auto alone = run_alone(predicate ? yes : no, whole, draw, values);
    const auto within = evaluate(whole, values);
    REQUIRE(alone.ok() == within.ok());
    if (alone) CHECK(outputs_difference(alone->outputs, within->outputs) == "");
  }
}

TEST_CASE("random regions: a condition has the values of its branch alone", "[random]") {
  int tried = 0;
  for (std::uint64_t seed = 1; tried < 60; ++seed) {
    REQUIRE(seed < 2'000);
    const auto yes = random_region(seed);
    if (!yes) continue;
    ++tried;
    CAPTURE(seed);
    const Graph no = other_region(*yes);
    const Graph whole = conditional(*yes, no);
    const std::int64_t draw = draw_of(whole[whole.find("call")]);
    REQUIRE(verify(whole).empty());
    const auto again = parse_graph_text(print(whole), "again");
    REQUIRE(again.ok());
    CHECK(print(*again) == print(whole));
    check_values(whole, draw, *yes, no, seed);
    std::vector<std::string> nested = default_passes();
    nested.erase(std::find(nested.begin(), nested.end(), "inline_regions"));
    for (const auto& passes : {default_passes(), nested}) {
      const auto passed = run_passes(whole, passes);
      if (!passed) FAIL(format(passed.diagnostics()));
      check_values(passed->graph(), draw, *yes, no, seed);
    }
  }
}

}  // namespace
}  // namespace recut::test
