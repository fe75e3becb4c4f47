// Runs a document's graph through the interpreter, by a plan or in program order, and compares the
// outputs with those that a file gives.
#pragma once

#include <cstdint>
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
  std::span<const NamedTensor> tensors;  // in.<name>: values; out.<position>: what to expect
  std::optional<std::uint64_t>
      seed;                    // makes the inputs that `tensors` lack; none: they are an error
  const Plan* plan = nullptr;  // null: program order
  bool f64 = false;            // what is f32 is computed in f64 throughout; takes no plan
  std::function<bool(std::size_t step, std::size_t steps)> progress;
};

struct EvaluationReport {
  std::vector<OutputComparison> outputs;  // those that have an expected value
  std::int64_t measured_peak_bytes = 0;
  double seconds = 0;
  std::vector<NamedTensor> tensors;  // out.<position>, for writing; bytes are views of `storage`
  std::vector<std::string> storage;

  bool agrees() const { return all_ok(outputs); }
  double max_relative_error() const { return recut::max_relative_error(outputs); }
};

Result<EvaluationReport> evaluate_graph(const Graph& graph, const EvaluationRequest& request);

}  // namespace recut
