// Forward mode names its dual numbers: which input and result is whose tangent, at which level.
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/autodiff/differentiate.h"
#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/ir/graph_signature.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "tests/input/parse.h"

namespace recut {
namespace {

constexpr const char* kCube = R"(graph "cube" on cpu {
  %x = input f64[3]
  %count = input i64[]
  %square = mul.Tensor(%x, %x) : f64[3]
  %cube = mul.Tensor(%square, %x) : f64[3]
  results none, %cube, %count
}
)";

Graph dual_of(const Graph& graph, std::optional<int> level = std::nullopt,
              std::optional<std::vector<std::string>> inputs = std::nullopt) {
  GradOptions options;
  options.level = level;
  options.requires_grad = std::move(inputs);
  auto made = jvp(graph, options);
  INFO((made ? "" : format(made.diagnostics())));
  REQUIRE(made.ok());
  CHECK(verify(made->graph).empty());
  const std::string text = print(made->graph);
  CHECK(print(parse(text)) == text);
  return std::move(made->graph);
}

std::string dual_lines(const Graph& graph) {
  const std::string text = print(graph);
  const std::size_t at = text.find("  results");
  return text.substr(text.find('\n', at) + 1);
}

double value_at(const Graph& graph, std::size_t result, double x) {
  Inputs inputs;
  for (const NodeId id : graph.inputs()) {
    Tensor value = allocate(graph.type(id), nullptr);
    if (graph.type(id).dtype == DType::f64)
      pack(Reals(value.shape, graph.node_name(id) == "x" ? x : 1), value);
    inputs[id] = std::move(value);
  }
  const auto evaluated = evaluate(graph, inputs);
  REQUIRE(evaluated.ok());
  return unpack<double>(evaluated->outputs[result])[0];
}

TEST_CASE("dual numbers: inputs and results name their tangents") {
  const Graph dual = dual_of(parse(kCube));
  CHECK(dual_lines(dual) ==
        "  dual_input %x, %x_tangent level 0\n"
        "  dual_result 0, 2 level 0\n}\n");
  CHECK(value_at(dual, 2, 2) == 12);
}

TEST_CASE("dual numbers: levels nest, and each is the derivative of the one below") {
  const Graph first = dual_of(parse(kCube));
  const Graph second = dual_of(first, std::nullopt, {{"x"}});
  CHECK(dual_lines(second) ==
        "  dual_input %x, %x_tangent level 0\n"
        "  dual_input %x, %x_tangent_1 level 1\n"
        "  dual_result 0, 2 level 0\n"
        "  dual_result 0, 3 level 1\n"
        "  dual_result 2, 4 level 1\n}\n");
  CHECK(value_at(second, 4, 2) == 12);  // 6 x
  const Graph third = dual_of(second, 7, {{"x"}});
  CHECK(third.signature->dual_results.back().level == 7);
  CHECK(next_dual_level(third) == 8);
}

TEST_CASE("dual numbers: a second tangent at a level is refused by name") {
  const Graph first = dual_of(parse(kCube), 1);
  for (const int level : {0, 1}) {
    GradOptions options;
    options.level = level;
    const auto again = jvp(first, options);
    REQUIRE_FALSE(again.ok());
    CHECK(format(again.diagnostics())
              .find("%x has the tangent %x_tangent at level 1: a further "
                    "derivative is of level 2 or above, found " +
                    std::to_string(level)) != std::string::npos);
  }
  GradOptions options;
  options.level = -1;
  CHECK_FALSE(jvp(parse(kCube), options).ok());
}

TEST_CASE("dual numbers: forward over reverse keeps what the joint graph says") {
  const auto joint = differentiate(parse(R"(graph "f" on cpu {
  %x = parameter f64[3]
  %state = input f64[3]
  %next = add.Tensor(%state, 1) : f64[3]
  %y = mul.Tensor(%x, %x) : f64[3]
  results %next, %y
  mutation 0 %state
}
)"),
                                   {});
  REQUIRE(joint.ok());
  const Graph dual = dual_of(*joint);
  CHECK(mutated_input(dual, 0) == dual.find("state"));
  CHECK(dual.signature->tangent_of.empty());
  REQUIRE(dual.signature->dual_results.size() == 3);  // of both results and of the gradient
}

TEST_CASE("dual numbers: faults of the text form") {
  const Graph dual = dual_of(parse(kCube));
  const struct {
    const char *line, *fault;
  } cases[] = {
      {"dual_input %x, %x_tangent level 0", "'x' has two tangents at level 0"},
      {"dual_input %x, %cube level 1", "names 'cube', expected an input"},
      {"dual_input %x, %count level 1", "'count', the tangent of 'x', has shape []"},
      {"dual_result 0, 1 level 0", "result 0 has two tangents at level 0"},
      {"dual_result 0, 1 level 1", "result 1, the tangent of result 0, has shape []"},
      {"dual_result 0, 9 level 1", "result 9"},
      {"dual_result 0, 2 level -1", "level -1, expected 0 to 1000"},
      {"dual_result 0, 2", "expected 'level'"},
  };
  for (const auto& c : cases) {
    std::string text = print(dual);
    text.insert(text.size() - 2, std::string("  ") + c.line + "\n");
    const auto again = parse_graph_text(text, "test");
    INFO(text);
    REQUIRE_FALSE(again.ok());
    INFO(format(again.diagnostics()));
    CHECK(format(again.diagnostics()).find(c.fault) != std::string::npos);
  }
}

}  // namespace
}  // namespace recut
