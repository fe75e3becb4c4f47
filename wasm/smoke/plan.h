// Plans that smoke tests of steps run.
#pragma once

#include <string>

#include "engine/workspace/document.h"
#include "engine/workspace/executor.h"
#include "engine/workspace/scheduling.h"

namespace recut::smoke {

// The fused plan of a budget; "least": of the least possible budget.
inline Result<ScheduledPlan> scheduled(const Document& document, const std::string& budget) {
  SchedulingRequest request;
  request.planning.cost_model = "fused";
  request.planning.budget = budget == "least" ? "1" : budget;
  return schedule_document(document, request);
}

// Calls `use` with a plan's step.
template <class Use>
auto with_step(const Document& document, const ScheduledPlan& plan, Use use) {
  return use(ScheduledStep{document, *plan.kernels, plan.schedule});
}

}  // namespace recut::smoke
