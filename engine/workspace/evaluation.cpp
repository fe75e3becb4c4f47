#include "engine/workspace/evaluation.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "engine/eval/inputs.h"

namespace recut {
namespace {

// The outputs as tensors of a file. The strings are made first: the views stay good while they
// move.
void collect_tensors(const std::vector<Tensor>& outputs, EvaluationReport& report) {
  report.storage.reserve(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].exists()) continue;
    report.storage.push_back(bytes_of(outputs[i]));
    report.tensors.push_back(
        {fmt::format("out.{}", i), outputs[i].dtype, outputs[i].shape, report.storage.back()});
  }
}

}  // namespace

Result<EvaluationReport> evaluate_graph(const Graph& graph, const EvaluationRequest& request) {
  const auto inputs = inputs_from(graph, request.tensors, request.seed);
  if (!inputs) return inputs.diagnostics();
  const auto expected = expected_outputs(graph, request.tensors);
  if (!expected) return expected.diagnostics();

  EvaluateOptions options;
  options.seed = request.seed.value_or(0);
  options.progress = request.progress;
  const auto start = std::chrono::steady_clock::now();
  const auto evaluation = request.plan != nullptr ? evaluate(graph, *request.plan, *inputs, options)
                                                  : evaluate(graph, *inputs, options);
  if (!evaluation) return evaluation.diagnostics();

  EvaluationReport report;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.measured_peak_bytes = evaluation->peak_bytes;
  report.outputs = compare_outputs(graph, *inputs, evaluation->outputs, *expected);
  collect_tensors(evaluation->outputs, report);
  return report;
}

}  // namespace recut
