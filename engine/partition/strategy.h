// Planning: from a joint graph to the order in which it runs. The door of this room.
//
// Strategies stand side by side in one table, engine/partition/strategies.def: a new one is a row
// there and a file here.
#pragma once

#include <span>
#include <string_view>

#include "engine/ir/graph.h"
#include "engine/partition/plan_request.h"
#include "engine/support/result.h"

namespace recut {

struct Strategy {
  std::string_view name;
  std::string_view prose;
  Result<PlanOutcome> (*plan)(const Graph& graph, const PlanRequest& request);
};

std::span<const Strategy> all_strategies();
const Strategy* find_strategy(std::string_view name);  // null where there is none

// Plans by the strategy that the request names. Fails where there is none such, where the budget is
// not of a kind or size that it takes, where it plans in the eager model alone, and where the graph
// leaves no choice that works. A bound on the peak that can't be held is no failure: the outcome's
// proof says so. `graph` satisfies the verifier; every plan replays (engine/partition/replay.h).
Result<PlanOutcome> make_plan(const Graph& graph, const PlanRequest& request);

}  // namespace recut
