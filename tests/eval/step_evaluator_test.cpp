#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/eval/evaluator.h"
#include "engine/input/text.h"
#include "tests/eval/run_text.h"

namespace recut::test {
namespace {

TEST_CASE("an evaluation step by step has the outputs and the peak of one in a row", "[eval]") {
  const auto graph = parse_graph_text(
      "graph \"g\" {\n  %x = input f32[4]\n  %y = neg(%x)\n  %z = mul.Tensor(%y, %y)\n"
      "  results %z\n}",
      "test");
  REQUIRE(graph.ok());
  const NodeId x = graph->find("x");
  const Inputs inputs = {{x, input_tensor(graph->type(x), nullptr)}};
  StepEvaluator steps(*graph);
  REQUIRE(steps.begin(inputs).ok());
  CHECK(steps.next() == graph->find("y"));
  for (int step = 0; step < 2; ++step) {
    REQUIRE_FALSE(steps.done());
    CHECK_FALSE(steps.awaits_ranks());
    REQUIRE(steps.run().ok());
  }
  REQUIRE(steps.done());
  const Evaluation found = steps.finish();
  const auto expected = evaluate(*graph, inputs);
  REQUIRE(expected.ok());
  CHECK(values_of(found.outputs[0]) == values_of(expected->outputs[0]));
  CHECK(found.peak_bytes == expected->peak_bytes);
}

TEST_CASE("a collective of other ranks takes values of its recorded type", "[eval]") {
  const auto graph = parse_graph_text(
      "graph \"g\" {\n  %x = input f32[2]\n"
      "  %c = _c10d_functional.all_reduce(%x, \"sum\", \"0\") : f32[2]\n  results %c\n}",
      "test");
  REQUIRE(graph.ok());
  const NodeId x = graph->find("x");
  const Inputs inputs = {{x, input_tensor(graph->type(x), nullptr)}};
  CHECK_FALSE(evaluate(*graph, inputs).ok());
  StepEvaluator steps(*graph);
  REQUIRE(steps.begin(inputs).ok());
  REQUIRE(steps.awaits_ranks());
  const Tensor wrong = input_tensor(make_type(DType::f32, {3}), nullptr);
  const auto refused = steps.give({&wrong, 1});
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.diagnostics().front().message ==
        "node 'c': its value is f32[3], and the graph has f32[2]");
  const Tensor sum = input_tensor(make_type(DType::f32, {2}), nullptr);
  REQUIRE(steps.give({&sum, 1}).ok());
  const Evaluation evaluation = steps.finish();
  CHECK(values_of(evaluation.outputs[0]) == Values{0, 1});
  CHECK(evaluation.outputs[0].storage != sum.storage);
  CHECK(evaluation.peak_bytes == 8);
}

}  // namespace
}  // namespace recut::test
