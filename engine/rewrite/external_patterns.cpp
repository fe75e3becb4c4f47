#include "engine/rewrite/external_patterns.h"

#include <algorithm>

#include "engine/ir/data_flow.h"
#include "engine/ir/rebuild.h"

namespace recut {

std::set<std::string, std::less<>> external_names(const RuleSet& rules) {
  std::set<std::string, std::less<>> names;
  for (const Rule& rule : rules.rules)
    for (const PatternNode& node : rule.pattern)
      if (node.kind == PatternNode::Kind::call && is_external(node.op->op))
        names.emplace(node.op->name);
  return names;
}

std::vector<NodeId> effect_calls(const Graph& graph) {
  std::vector<NodeId> calls;
  const auto order = graph.order();
  std::vector<bool> needed(order.size());
  for (const NodeId id : graph_outputs(graph)) needed[graph.position(id)] = true;
  for (std::size_t p = order.size(); p-- > 0;) {
    if (!needed[p] && is_external(graph[order[p]].op)) {
      calls.push_back(order[p]);
      needed[p] = true;
    }
    if (needed[p])
      for (const NodeId operand : graph[order[p]].operands) needed[graph.position(operand)] = true;
  }
  std::reverse(calls.begin(), calls.end());
  return calls;
}

Graph with_all_items(const Graph& graph) {
  Graph whole = graph;
  for (const NodeId id : graph.order()) {
    if (!is_external(graph[id].op) || !graph.op(id).returns_list) continue;
    const std::vector<TensorType> types = graph[id].outputs;
    for (std::size_t i = 0; i < types.size(); ++i)
      if (types[i].exists()) {
        const auto item = whole.make(Op::getitem, {id, static_cast<std::int64_t>(i)});
        RECUT_CHECK(item.ok(), "an existing value of a call has an item");
      }
  }
  return whole;
}

Graph without_replaced_calls(const Graph& graph, const std::unordered_set<NodeId>& replaced) {
  std::vector<NodeId> roots = graph_outputs(graph);
  for (const NodeId id : unread_external_calls(graph))
    if (replaced.count(id) == 0) roots.push_back(id);
  std::vector<bool> keep = needed_nodes(graph, roots);
  for (const NodeId id : graph.order()) {
    const std::size_t p = graph.position(id);
    const auto& operands = graph[id].operands;
    keep[p] = keep[p] || (replaced.count(id) == 0 &&
                          std::all_of(operands.begin(), operands.end(), [&](NodeId operand) {
                            return keep[graph.position(operand)];
                          }));
  }
  return with_nodes(graph, keep);
}

}  // namespace recut
