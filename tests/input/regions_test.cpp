// Nested graphs of files: read with their calls, evaluated, and refused where the file lacks them.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "engine/eval/double_graph.h"
#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/input/graph_file_reader.h"
#include "engine/ir/printer.h"
#include "engine/ir/region_call.h"
#include "engine/ir/verifier.h"
#include "engine/passes/runner.h"
#include "engine/passes/stages.h"
#include "tests/input/parse.h"
#include "tests/paths.h"

namespace recut {
namespace {

GraphFile region_file(std::string_view name) {
  const std::string path = RECUT_SOURCE_DIR "/tests/input/graphs/" + std::string(name);
  auto file = read_graph_file(path, kDefaultGraphKey);
  if (!file) FAIL(format(file.diagnostics()));
  return std::move(*file);
}

// The outputs of a graph in f64, where an input named `moved` has one element changed.
std::vector<Reals> outputs_of(const Graph& graph, double scale, std::string_view moved = {},
                              std::int64_t element = 0, double step = 0) {
  const auto inputs = inputs_from(graph, {}, 1);
  REQUIRE(inputs.ok());
  const DoubleGraph wide(graph);
  Inputs values = wide.inputs(*inputs);
  for (const NodeId id : graph.inputs()) {
    Tensor& tensor = values[wide.mapped(id)];
    Reals reals = unpack<double>(tensor);
    const std::string& name = graph.node_name(id);
    if (name == "primals_1")
      for (double& x : reals.data) x = std::abs(x) * scale;
    if (name == moved) reals[element] += step;
    if (name == "tangents_1") reals.data = {1};
    pack(reals, tensor);
  }
  const auto evaluation = evaluate(wide.graph(), values);
  if (!evaluation) FAIL(format(evaluation.diagnostics()));
  std::vector<Reals> outputs;
  for (const Tensor& output : evaluation->outputs)
    outputs.push_back(output.exists() ? unpack<double>(output) : Reals());
  return outputs;
}

// %primals_1 decides: its sum is positive or negative.
TEST_CASE("regions of a file: gradients of a condition are those of central differences") {
  const GraphFile file = region_file("cond.json.gz");
  CHECK(file.externals_note.empty());
  CHECK(verify(file.graph).empty());
  constexpr double kStep = 1e-6;
  for (const double scale : {1.0, -1.0}) {
    CAPTURE(scale);
    const std::vector<Reals> outputs = outputs_of(file.graph, scale);
    std::size_t taken = 0;
    for (std::size_t input = 2; input <= 5; ++input) {
      const std::string name = fmt::format("primals_{}", input);
      const Reals& gradient = outputs[input];  // behind one result and the gradient of primals_1
      for (std::int64_t i = 0; i < gradient.count(); i += 37) {
        CAPTURE(name, i);
        const double above = outputs_of(file.graph, scale, name, i, kStep)[0][0];
        const double below = outputs_of(file.graph, scale, name, i, -kStep)[0][0];
        const double expected = (above - below) / (2 * kStep);
        CHECK(std::abs(gradient[i] - expected) < 1e-5);
        taken += gradient[i] != 0;
      }
    }
    CHECK(taken > 0);
  }
}

TEST_CASE("regions of a file: a printed graph has the values of its JSON") {
  const GraphFile json = region_file("cond.json.gz"), text = region_file("cond.txt.gz");
  CHECK(verify(text.graph).empty());
  CHECK(has_regions(text.graph, text.graph.find("cond_1")));
  for (const double scale : {1.0, -1.0}) {
    const auto a = outputs_of(json.graph, scale), b = outputs_of(text.graph, scale);
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i].data == b[i].data);
  }
}

TEST_CASE("regions of a file: printed and read back, and through passes, values stay") {
  const GraphFile file = region_file("cond.json.gz");
  const std::string text = print(file.graph);
  CHECK(text.find("  region \"false_graph_1\" {\n    %arg0_1 = input f32[8, 32]  #") !=
        std::string::npos);
  const Graph again = parse(text);
  CHECK(print(again) == text);
  const auto passed = run_passes(file.graph, inexact_passes());
  REQUIRE(passed.ok());
  const auto before = outputs_of(file.graph, -1);
  for (const Graph* graph : {&again, &passed->graph()}) {
    const auto after = outputs_of(*graph, -1);
    for (std::size_t i = 0; i < before.size(); ++i) CHECK(before[i].data == after[i].data);
  }
  const auto as_before = again.measurement(again.find("cond_1"));
  REQUIRE(as_before != nullptr);
  CHECK(as_before->workspace_bytes ==
        file.graph.measurement(file.graph.find("cond_1"))->workspace_bytes);
}

std::string printed_loop(std::string_view call, std::string_view items, std::string_view regions) {
  return fmt::format(R"(class GraphModule(torch.nn.Module):
    def forward(self, i: "i64[][]cpu", x: "f32[3, 2][2, 1]cpu"):
        g_0 = self.g_0
        g_1 = self.g_1
        c = torch.ops.higher_order.{};  g_0 = g_1 = None
{}
        return (y,)

{})",
                     call, items, regions);
}

constexpr std::string_view kLoopRegions = R"(
    class g_0(torch.nn.Module):
        def forward(self, a: "i64[][]cpu", b: "f32[3, 2][2, 1]cpu"):
            lt: "b8[][]cpu" = torch.ops.aten.lt.Scalar(a, 3)
            return lt

    class g_1(torch.nn.Module):
        def forward(self, a: "i64[][]cpu", b: "f32[3, 2][2, 1]cpu"):
            add: "i64[][]cpu" = torch.ops.aten.add.Tensor(a, 1)
            mul: "f32[3, 2][2, 1]cpu" = torch.ops.aten.mul.Tensor(b, 2)
            return (add, mul)
)";

std::vector<double> values_of_text(const std::string& text) {
  const auto file = read_graph_bytes(text, "net.txt");
  if (!file) FAIL(format(file.diagnostics()));
  Inputs inputs;
  for (const NodeId id : file->graph.inputs()) {
    Tensor tensor = allocate(file->graph.type(id), nullptr);
    Reals reals(tensor.shape);
    for (std::int64_t i = 0; i < reals.count(); ++i) reals[i] = static_cast<double>(i);
    pack(reals, tensor);
    inputs[id] = tensor;
  }
  const auto evaluation = evaluate(file->graph, inputs);
  if (!evaluation) FAIL(format(evaluation.diagnostics()));
  return unpack<double>(evaluation->outputs.front()).data;
}

TEST_CASE("regions of a file: a printed loop, whose condition is one value") {
  const std::string loop = "while_loop(g_0, g_1, (i, x), ())";
  CHECK(values_of_text(printed_loop(loop, "        y: \"f32[3, 2][2, 1]cpu\" = c[1]",
                                    kLoopRegions)) == std::vector<double>{0, 8, 16, 24, 32, 40});
  // The text doesn't show the last output, which nobody reads.
  CHECK(values_of_text(printed_loop(loop, "        y: \"i64[][]cpu\" = c[0]", kLoopRegions)) ==
        std::vector<double>{3});
}

TEST_CASE("regions of a file: inputs that differ from the call's operands are a fault") {
  std::string text = printed_loop("while_loop(g_0, g_1, (i, i), ())",
                                  "        y: \"i64[][]cpu\" = c[0]", kLoopRegions);
  const auto file = read_graph_bytes(text, "net.txt");
  REQUIRE_FALSE(file.ok());
  CHECK(file.diagnostics().front().message ==
        "node 'c': input 'b' of nested graph 'g_0' is f32[3, 2], and operand 'i' is i64[]");
}

TEST_CASE("regions of a file: a loop over numbers is read, and has no values") {
  const std::string text = printed_loop("while_loop(g_0, g_1, (0, x), ())",
                                        "        y: \"f32[3, 2][2, 1]cpu\" = c[1]", R"py(
    class g_0(torch.nn.Module):
        def forward(self, a: "Sym(u0)", b: "f32[3, 2][2, 1]cpu"):
            any_1: "b8[][]cpu" = torch.ops.aten.any.default(b)
            return any_1

    class g_1(torch.nn.Module):
        def forward(self, a: "Sym(u0)", b: "f32[3, 2][2, 1]cpu"):
            mul: "f32[3, 2][2, 1]cpu" = torch.ops.aten.mul.Tensor(b, 2)
            add: "Sym(u0 + 1)" = a + 1
            return (add, mul)
)py");
  const auto file = read_graph_bytes(text, "net.txt", kDefaultGraphKey, {{"u0", 4}});
  if (!file) FAIL(format(file.diagnostics()));
  const auto inputs = inputs_from(file->graph, {}, 1);
  REQUIRE(inputs.ok());
  const auto values = evaluate(file->graph, *inputs);
  REQUIRE_FALSE(values.ok());
  CHECK(values.diagnostics().front().message.find("a number among the values of its loop") !=
        std::string::npos);
}

}  // namespace
}  // namespace recut
