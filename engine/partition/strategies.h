// The strategies behind the table (strategies.def).
#pragma once

#include "engine/ir/graph.h"
#include "engine/partition/plan_request.h"
#include "engine/support/result.h"

namespace recut {

#define RECUT_STRATEGY(identifier, name, prose) \
  Result<PlanOutcome> identifier(const Graph& graph, const PlanRequest& request);
#include "engine/partition/strategies.def"
#undef RECUT_STRATEGY

}  // namespace recut
