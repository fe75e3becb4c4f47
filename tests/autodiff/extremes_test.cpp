// Gradients of extremes that are NaN, by eval: PyTorch's numbers.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "engine/autodiff/differentiate.h"
#include "engine/input/text.h"
#include "tests/eval/run_text.h"

namespace recut::test {
namespace {

const double kNan = std::nan("");

// The gradient of x alone. NaN is written as 1e9, so that numbers can be compared.
std::vector<double> gradient_of_extremes(const std::string& inputs, const std::string& call,
                                         const InputValues& given) {
  const auto forward =
      parse_graph_text("graph \"g\" {\n" + inputs + "  %y = " + call + "\n  results %y\n}", "g");
  INFO(call);
  if (!forward) FAIL(format(forward.diagnostics()));
  const auto joint = differentiate(*forward);
  if (!joint) FAIL(format(joint.diagnostics()));
  Inputs values;
  for (const NodeId id : joint->inputs()) {
    const auto found = given.find(joint->node_name(id));
    values[id] = input_tensor(joint->type(id), found == given.end() ? nullptr : &found->second);
  }
  const auto evaluation = evaluate(*joint, values);
  if (!evaluation) FAIL(format(evaluation.diagnostics()));
  std::vector<double> numbers = test::values_of(evaluation->outputs[1]);
  for (double& x : numbers)
    if (std::isnan(x)) x = 1e9;
  return numbers;
}

TEST_CASE("extremes along dimensions: a NaN makes its row's gradients NaN", "[autodiff]") {
  const InputValues given = {{"x", {kNan, 1, 4, 4, 2, -1}}, {"tangents_1", {5, 7, 9}}};
  const std::string x = "  %x = parameter f32[3, 2]\n";
  CHECK(gradient_of_extremes(x, "amax(%x, [1])", given) ==
        std::vector<double>{1e9, 1e9, 3.5, 3.5, 9, 0});
  CHECK(gradient_of_extremes(x, "amin(%x, [1])", given) ==
        std::vector<double>{1e9, 1e9, 3.5, 3.5, 0, 9});
  CHECK(gradient_of_extremes(x, "amax(%x, [0, 1])",
                             {{"x", {kNan, 1, 4, 4, 2, -1}}, {"tangents_1", {5}}}) ==
        std::vector<double>(6, 1e9));
}

TEST_CASE("extremes of whole tensors: the gradient goes to the NaNs", "[autodiff]") {
  const InputValues given = {{"x", {kNan, 1, kNan, 4}}, {"tangents_1", {6}}};
  for (const char* call : {"max(%x)", "min(%x)", "median(%x)"})
    CHECK(gradient_of_extremes("  %x = parameter f32[4]\n", call, given) ==
          std::vector<double>{3, 0, 3, 0});
}

TEST_CASE("scattered extremes that are NaN make what went there NaN", "[autodiff]") {
  const std::string inputs = "  %x = parameter f32[2]\n  %s = input f32[3]\n  %i = input i64[3]\n";
  const InputValues given = {
      {"x", {0, 5}}, {"s", {kNan, 1, 2}}, {"i", {0, 0, 1}}, {"tangents_1", {3, 4}}};
  CHECK(gradient_of_extremes(inputs, "scatter_reduce.two(%x, 0, %i, %s, \"amax\")", given) ==
        std::vector<double>{1e9, 4});
  CHECK(gradient_of_extremes(inputs, "index_reduce(%x, 0, %i, %s, \"amin\")", given) ==
        std::vector<double>{1e9, 0});
}

}  // namespace
}  // namespace recut::test
