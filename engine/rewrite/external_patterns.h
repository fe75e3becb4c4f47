// Rules over external calls (engine/ir/external_operator.h): operators that the table lacks.
#pragma once

#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/rewrite/rule.h"

namespace recut {

// The names of the external operators in the rules' patterns.
std::set<std::string, std::less<>> external_names(const RuleSet& rules);

// External calls that neither an output nor another such call needs: they run for their effects
// alone, which no replacement has.
std::vector<NodeId> effect_calls(const Graph& graph);

// The graph with an item for each value of each external call: a pattern names all of them, and
// the graph may read some.
Graph with_all_items(const Graph& graph);

// Drops replaced external calls that nothing needs any more, with their unread items. Dead code
// elimination would keep the calls, since they may have effects.
Graph without_replaced_calls(const Graph& graph, const std::unordered_set<NodeId>& replaced);

}  // namespace recut
