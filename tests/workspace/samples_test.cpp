// The text graphs in samples/: each one reads, is sound, plans, and runs by its plans as it does in
// program order; its gradients are those that differences give.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/input/text.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "engine/workspace/document.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/planning.h"
#include "tests/paths.h"

namespace recut::test {
namespace {

std::vector<std::string> sample_paths() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(RECUT_SOURCE_DIR "/samples"))
    if (entry.path().extension() == ".recut") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

template <class T>
T value_of(Result<T> result) {
  INFO((result ? std::string() : format(result.diagnostics())));
  REQUIRE(result.ok());
  return std::move(*result);
}

std::vector<std::string> bytes_of_outputs(const Evaluation& evaluation) {
  std::vector<std::string> bytes;
  for (const Tensor& tensor : evaluation.outputs)
    bytes.push_back(tensor.exists() ? bytes_of(tensor) : "");
  return bytes;
}

// The sum of two tensors' products, place by place.
double dot(const Tensor& a, const Tensor& b) {
  const Reals x = unpack<double>(a);
  const Reals y = unpack<double>(b);
  double sum = 0;
  for (std::int64_t i = 0; i < x.count(); ++i) sum += x[i] * y[i];
  return sum;
}

// Small enough for differences to be straight.
Inputs small_inputs(const Graph& graph) {
  Inputs inputs = value_of(inputs_from(graph, {}, 1));
  for (auto& [id, tensor] : inputs) {
    Reals values = unpack<double>(tensor);
    for (double& x : values.data) x *= 0.25;
    pack(values, tensor);
  }
  return inputs;
}

// The differentiated scalar: the results weighted by their tangents, with one input perturbed.
double objective(const Graph& graph, Inputs inputs, NodeId moved, const Tensor& direction,
                 double step) {
  Reals values = unpack<double>(inputs[moved]);
  const Reals by = unpack<double>(direction);
  for (std::int64_t i = 0; i < values.count(); ++i) values[i] += step * by[i];
  inputs[moved] = allocate(graph.type(moved), nullptr);
  pack(values, inputs[moved]);
  const Evaluation evaluation = value_of(evaluate(graph, inputs));
  double sum = 0;
  std::size_t result = 0;
  for (const NodeId id : graph.inputs())
    if (graph.input_kind(id) == InputKind::tangent)
      sum += dot(evaluation.outputs[result++], inputs[id]);
  return sum;
}

void check_gradients(const Graph& graph, const Inputs& inputs) {
  constexpr double kStep = 1e-2;
  const Evaluation evaluation = value_of(evaluate(graph, inputs));
  std::size_t place = graph.results.size();
  for (const NodeId id : graph.inputs()) {
    if (graph.input_kind(id) == InputKind::tangent) continue;
    const Tensor& gradient = evaluation.outputs[place++];
    if (!gradient.exists()) continue;
    const Tensor direction = random_tensor(graph.type(id), 7, "direction");
    const double expected = (objective(graph, inputs, id, direction, kStep) -
                             objective(graph, inputs, id, direction, -kStep)) /
                            (2 * kStep);
    const double found = dot(gradient, direction);
    INFO(graph.node_name(id) << ": the gradient gives " << found << ", differences " << expected);
    CHECK(std::abs(found - expected) <= 1e-3 * std::max(1.0, std::abs(expected)));
  }
}

void check_plan(const Document& document, const Inputs& inputs, const PlanningRequest& request) {
  INFO(request.strategy << " " << request.budget);
  const Planned planned = value_of(plan_document(document, request));
  const Evaluation whole = value_of(evaluate(document.graph(), inputs));
  const Evaluation by_plan = value_of(evaluate(document.graph(), planned.plan, inputs));
  CHECK(by_plan.peak_bytes == planned.report.peak_bytes);
  CHECK(bytes_of_outputs(by_plan) == bytes_of_outputs(whole));
}

TEST_CASE("samples in text read, plan and run") {
  const auto paths = sample_paths();
  REQUIRE(paths.size() >= 4);
  for (const std::string& path : paths) {
    DYNAMIC_SECTION(std::filesystem::path(path).filename().string()) {
      const Document document = value_of(open_document(path, {}));
      const Graph& graph = document.file.graph;
      CHECK(verify(graph).empty());
      CHECK(print(value_of(parse_graph_text(print(graph), path))) == print(graph));
      check_gradients(graph, small_inputs(graph));
      const Inputs inputs = value_of(inputs_from(document.graph(), {}, 1));
      check_plan(document, inputs, {"default", "none"});
      for (const char* budget : {"none", "0.5", "0"})
        check_plan(document, inputs, {"torch", budget});
    }
  }
}

}  // namespace
}  // namespace recut::test
