// Expands a plan into execution steps with the last use of each value, and validates the plan
// before anything runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/ir/plan.h"
#include "engine/support/result.h"

namespace recut {

// The value of one run of a node. A recomputed node has several, and views of an earlier one may
// live beside a later one.
struct ValueRun {
  NodeId node;
  std::size_t step = 0;  // that computed it
};

struct EvaluationStep {
  NodeId node;
  std::vector<ValueRun> last_uses;  // values whose last use is this step
};

struct EvaluationSteps {
  std::vector<EvaluationStep> steps;
  std::size_t boundary = 0;  // number of forward steps; all steps if there is no backward
};

// All live nodes, once each, in program order; tangents are available from the start.
EvaluationSteps build_steps(const Graph& graph);

// Forward, then backward. Saved values and results must be computed in forward; backward can read
// the saved values and the inputs, including tangents. Saved values live at least through the first
// step of backward, results to the end; a result that backward reads must be saved as well. Fails
// if a step uses an unavailable value, an impure operator would run twice, or an output is never
// computed.
Result<EvaluationSteps> build_steps(const Graph& graph, const Plan& plan);

}  // namespace recut
