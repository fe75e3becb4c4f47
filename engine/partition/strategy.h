// Planning: from a joint graph to a plan, which lists the calls of forward and of backward and the
// saved values. A forward graph's plan is its order: there is no backward and nothing saved.
// This is the main interface of engine/partition.
//
// The table engine/partition/strategies.def lists the strategies: a new one is a row there and a
// file here.
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
const Strategy* find_strategy(std::string_view name);  // null for an unknown name

// Plans by the strategy that the request names. Fails on an unknown strategy, on a forward graph
// for strategy `torch`, on options of that strategy for another one, on a budget of a kind or size
// that the strategy does not take, on fusion groups where it plans in the eager model alone, and if
// no valid plan exists. A peak that can't be held is no failure: the outcome's proof says so.
// `graph` satisfies the verifier; every plan replays (engine/partition/replay.h).
Result<PlanOutcome> make_plan(const Graph& graph, const PlanRequest& request);

}  // namespace recut
