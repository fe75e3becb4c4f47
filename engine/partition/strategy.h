// Planning: from a joint graph to the order in which it runs. The door of this room.
//
// Strategies stand side by side in one table, engine/partition/strategies.def: a new one is a row
// there and a file here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/ir/plan.h"
#include "engine/support/result.h"

namespace recut {

// How much a plan may keep. PyTorch's budget is a fraction of the bytes that its own plan without a
// budget saves; a bound on the peak is in bytes.
struct NoBudget {};
struct SavedFraction {
  double value = 1;  // 0 … 1
};
struct PeakBytes {
  std::int64_t value = 0;
};
using Budget = std::variant<NoBudget, SavedFraction, PeakBytes>;

struct PlanRequest {
  std::string strategy = "torch";
  Budget budget;
};

// Something to say about one node: why it has to be saved, or may not be recomputed.
struct NodeRemark {
  NodeId node;
  std::string_view words;
};

struct PlanOutcome {
  Plan plan;
  std::vector<std::string> remarks;      // how the plan was found, for people
  std::vector<NodeRemark> node_remarks;  // in the graph's order
};

struct Strategy {
  std::string_view name;
  std::string_view prose;
  Result<PlanOutcome> (*plan)(const Graph& graph, const Budget& budget);
};

std::span<const Strategy> all_strategies();
const Strategy* find_strategy(std::string_view name);  // null where there is none

// Plans by the strategy that the request names. Fails where there is none such, where the budget is
// not of a kind or size that it takes, and where the graph leaves no choice that works. `graph`
// satisfies the verifier; every plan replays (engine/partition/replay.h).
Result<PlanOutcome> make_plan(const Graph& graph, const PlanRequest& request);

}  // namespace recut
