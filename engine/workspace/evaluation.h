// Evaluates a document's graph in the interpreter, by a plan or in program order, and compares the
// outputs with expected ones from a file.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/eval/compare.h"
#include "engine/eval/evaluator.h"
#include "engine/input/safetensors.h"
#include "engine/ir/plan.h"
#include "engine/support/result.h"

namespace recut {

struct EvaluationRequest {
  std::span<const NamedTensor> tensors;  // in.<name>: values; out.<position>: expected outputs
  std::optional<std::uint64_t> seed;     // generates inputs that `tensors` lack; unset: an error
  const Plan* plan = nullptr;            // null: program order
  bool f64 = false;                      // computes f32 values in f64; not with a plan
  std::function<bool(std::size_t step, std::size_t steps)> progress;
};

struct EvaluationReport {
  std::vector<OutputComparison> outputs;  // outputs with an expected value
  std::int64_t measured_peak_bytes = 0;
  double seconds = 0;
  std::vector<NamedTensor> tensors;  // as output_tensors.h; bytes are views of `storage`
  std::deque<std::string> storage;

  bool agrees() const { return all_ok(outputs); }
  double max_relative_error() const { return recut::max_relative_error(outputs); }
};

Result<EvaluationReport> evaluate_graph(const Graph& graph, const EvaluationRequest& request);

}  // namespace recut
