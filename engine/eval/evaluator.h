// Runs graphs and plans, one kernel after another.
//
// Memory follows the planner's model, and is measured as it is really allocated. A call allocates
// one storage for each output (elements times item size) when its step begins; views and getitem
// share storages; a storage is freed after the step of its last use; inputs cost nothing; outputs
// live to the end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/eval/kernel.h"
#include "engine/eval/tensor.h"
#include "engine/ir/graph.h"
#include "engine/ir/plan.h"
#include "engine/ir/region_call.h"
#include "engine/support/result.h"

namespace recut {

// The values of placeholders and constants.
using Inputs = std::map<NodeId, Tensor>;

// Memory limit: 1 GiB in WebAssembly, 8 GiB elsewhere.
inline constexpr std::int64_t kMaxEvaluateBytes =
    sizeof(void*) == 4 ? std::int64_t{1} << 30 : std::int64_t{8} << 30;

struct EvaluateOptions {
  std::uint64_t seed = 0;             // of the graph's random numbers
  std::vector<RegionRunNumber> runs;  // that the graph is a region in, the outermost first
  // Limit of all storages together, and of one value in working precision.
  std::int64_t max_bytes = kMaxEvaluateBytes;
  std::int64_t max_trips = 1'000'000;  // of one loop
  // Called before each step; false ends the evaluation with a diagnostic.
  std::function<bool(std::size_t step, std::size_t steps)> progress;
  const KernelTable* kernels = nullptr;    // null: kernel_table()
  std::optional<RandomRounding> rounding;  // none: to nearest
};

struct Evaluation {
  std::vector<Tensor> outputs;  // results, then gradients; absent if the graph has none
  std::int64_t peak_bytes = 0;  // measured
};

// Evaluates the live nodes in program order. Fails if an input is missing or has another type, an
// operator has no kernel (all are reported), a value is too large, or data is out of an operator's
// range.
Result<Evaluation> evaluate(const Graph& graph, const Inputs& inputs,
                            const EvaluateOptions& options = {});

// Evaluates in the order of a plan; also fails if the plan is not executable (engine/eval/steps.h).
Result<Evaluation> evaluate(const Graph& graph, const Plan& plan, const Inputs& inputs,
                            const EvaluateOptions& options = {});

// Evaluates a graph step by step, so that the ranks of a mesh take turns. Collectives of other
// ranks are the caller's: it gives their values. The graph outlives the evaluator.
class StepEvaluator {
 public:
  explicit StepEvaluator(const Graph& graph, const EvaluateOptions& options = {});
  ~StepEvaluator();
  StepEvaluator(StepEvaluator&&) noexcept;
  StepEvaluator& operator=(StepEvaluator&&) noexcept;

  // Fails as evaluate() does before its first step; comes before all below.
  Result<Done> begin(const Inputs& inputs);

  bool done() const;                            // all steps have run
  NodeId next() const;                          // the node of the next step
  bool awaits_ranks() const;                    // the next step is such a collective
  std::span<const Tensor> value(NodeId) const;  // of an operand of the next step

  Result<Done> run();  // the next step, which doesn't await ranks

  // The next step's outputs, which are copied. Fails if their types aren't the recorded ones.
  Result<Done> give(std::span<const Tensor> outputs);

  Evaluation finish();  // after the last step

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace recut
