#include "engine/workspace/evaluation.h"

#include <algorithm>
#include <chrono>

#include "engine/eval/double_graph.h"
#include "engine/eval/inputs.h"
#include "engine/workspace/output_tensors.h"

namespace recut {
namespace {

// The outputs of a run, and their comparison with the file's.
struct Run {
  Evaluation evaluation;
  std::vector<OutputComparison> outputs;
};

Result<Run> run_in_double(const Graph& graph, const Inputs& inputs, const EvaluateOptions& options,
                          std::vector<std::optional<Tensor>> expected) {
  const DoubleGraph in_f64(graph);
  const Inputs values = in_f64.inputs(inputs);
  auto evaluation = evaluate(in_f64.graph(), values, options);
  if (!evaluation) return evaluation.diagnostics();
  for (std::optional<Tensor>& tensor : expected)
    if (tensor) tensor = in_double(*tensor);
  auto outputs = compare_outputs(in_f64.graph(), values, evaluation->outputs, expected);
  return Run{std::move(*evaluation), std::move(outputs)};
}

Result<Run> run_in_own_types(const Graph& graph, const Plan* plan, const Inputs& inputs,
                             const EvaluateOptions& options,
                             const std::vector<std::optional<Tensor>>& expected) {
  auto evaluation =
      plan != nullptr ? evaluate(graph, *plan, inputs, options) : evaluate(graph, inputs, options);
  if (!evaluation) return evaluation.diagnostics();
  auto outputs = compare_outputs(graph, inputs, evaluation->outputs, expected);
  return Run{std::move(*evaluation), std::move(outputs)};
}

}  // namespace

Result<EvaluationReport> evaluate_graph(const Graph& graph, const EvaluationRequest& request) {
  RECUT_CHECK(!request.f64 || request.plan == nullptr, "plans are of the graph as it is");
  const auto inputs = inputs_from(graph, request.tensors, request.seed);
  if (!inputs) return inputs.diagnostics();
  const auto expected = expected_outputs(graph, request.tensors);
  if (!expected) return expected.diagnostics();

  EvaluateOptions options;
  options.seed = request.seed.value_or(0);
  options.progress = request.progress;
  const auto start = std::chrono::steady_clock::now();
  auto run = request.f64 ? run_in_double(graph, *inputs, options, *expected)
                         : run_in_own_types(graph, request.plan, *inputs, options, *expected);
  if (!run) return run.diagnostics();

  EvaluationReport report;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.measured_peak_bytes = run->evaluation.peak_bytes;
  report.outputs = std::move(run->outputs);
  report.tensors = output_tensors(graph, run->evaluation.outputs, report.storage);
  return report;
}

}  // namespace recut
