// Runs graphs and plans, one kernel after another.
//
// Memory is that of the model that plans are made for, and is measured as it is really allocated: a
// call allocates one storage an output (elements times item size) when its step begins; views and
// getitem share; a storage is freed after the step of its last use; inputs cost nothing; what is
// returned lives to the end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "engine/eval/kernel.h"
#include "engine/eval/tensor.h"
#include "engine/ir/graph.h"
#include "engine/ir/plan.h"
#include "engine/support/result.h"

namespace recut {

// The values of placeholders and constants.
using Inputs = std::map<NodeId, Tensor>;

// What a page can have at all, and what the interpreter is patient enough for elsewhere.
inline constexpr std::int64_t kMaxEvaluateBytes =
    sizeof(void*) == 4 ? std::int64_t{1} << 30 : std::int64_t{8} << 30;

struct EvaluateOptions {
  std::uint64_t seed = 0;  // of the graph's random numbers
  // What all storages together, and one value while it is worked on, may take.
  std::int64_t max_bytes = kMaxEvaluateBytes;
  // Called before each step; false ends the evaluation with a diagnostic.
  std::function<bool(std::size_t step, std::size_t steps)> progress;
  const KernelTable* kernels = nullptr;  // null: kernel_table()
};

struct Evaluation {
  std::vector<Tensor> outputs;  // results, then gradients; absent ones where the graph has none
  std::int64_t peak_bytes = 0;  // measured
};

// The graph in program order, without what no output needs. Fails where an input is missing or of
// another type, an operator has no kernel (all of them are named), a value is too large, or data is
// out of an operator's range.
Result<Evaluation> evaluate(const Graph& graph, const Inputs& inputs,
                            const EvaluateOptions& options = {});

// The same by a plan; fails also where the plan can't run (engine/eval/steps.h).
Result<Evaluation> evaluate(const Graph& graph, const Plan& plan, const Inputs& inputs,
                            const EvaluateOptions& options = {});

}  // namespace recut
