// The planning functions of the strategies that strategies.def lists.
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
