// A plan laid out as steps: what runs when, and when each value is of no more use. This is where a
// plan that can't run is found out, before anything has run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/ir/plan.h"
#include "engine/support/result.h"

namespace recut {

// One run's value of a node: a node that is recomputed has several, and views of an earlier one may
// live on beside the later.
struct ValueRun {
  NodeId node;
  std::size_t step = 0;  // that made it
};

struct EvaluationStep {
  NodeId node;
  std::vector<ValueRun> last_used;  // values that nothing after this step uses
};

struct EvaluationSteps {
  std::vector<EvaluationStep> steps;
  std::size_t border = 0;  // steps before it are forward; the number of steps where there is none
};

// Everything that the outputs need, once each, in program order; tangents are there from the start.
EvaluationSteps lay_out(const Graph& graph);

// Forward, then backward. What is saved and what the results are has to be there when forward ends;
// backward has what is saved, and the inputs, tangents among them. Saved values live at least
// through the first step of backward, results to the end; a result that backward needs has to be
// saved as well. Fails where a step uses what is not there, an
// operator that draws anew would run twice, or an output is never computed.
Result<EvaluationSteps> lay_out(const Graph& graph, const Plan& plan);

}  // namespace recut
