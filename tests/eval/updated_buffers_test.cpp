#include "engine/eval/compare.h"

#include <catch2/catch_test_macros.hpp>

#include "engine/eval/inputs.h"
#include "engine/input/text.h"

namespace recut {
namespace {

constexpr const char* kStep = R"(graph "step" {
  %count = input i64[]
  %x = parameter i64[]
  %next = add.Tensor(%count, 1) : i64[]
  %other = add.Tensor(%x, 1) : i64[]
  results %next, %other
}
)";

Tensor number(std::int64_t value) {
  Tensor tensor = allocate(make_type(DType::i64, {}), nullptr);
  pack(Integers({}, value), tensor);
  return tensor;
}

// Evaluates with count = x = 1 and compares with these expected results.
std::vector<OutputComparison> compared(std::int64_t next, std::int64_t other) {
  const auto graph = parse_graph_text(kStep, "step");
  REQUIRE(graph.ok());
  const Inputs inputs = {{graph->find("count"), number(1)}, {graph->find("x"), number(1)}};
  const auto evaluation = evaluate(*graph, inputs);
  REQUIRE(evaluation.ok());
  const std::vector<std::optional<Tensor>> expected = {number(next), number(other)};
  return compare_outputs(*graph, inputs, evaluation->outputs, expected);
}

TEST_CASE("updated buffers: a buffer that the file gives as it is after the step is unchecked",
          "[eval]") {
  const auto outputs = compared(1, 2);
  CHECK(outputs[0].unchecked == "the file gives the buffer %count as it is after the step");
  CHECK(outputs[0].ok());
  CHECK(outputs[1].unchecked.empty());
}

TEST_CASE("updated buffers: results that are right or plainly wrong are checked", "[eval]") {
  const auto right = compared(2, 2);
  CHECK(right[0].unchecked.empty());
  CHECK(right[0].ok());
  CHECK_FALSE(compared(3, 2)[0].ok());
  // A parameter is no buffer: a step never updates it.
  CHECK_FALSE(compared(2, 1)[1].ok());
}

}  // namespace
}  // namespace recut
