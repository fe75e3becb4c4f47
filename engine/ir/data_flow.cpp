#include "engine/ir/data_flow.h"

#include <algorithm>

namespace recut {

bool is_joint(const Graph& graph) {
  const auto has_tangent = [&](NodeId id) { return graph.input_kind(id) == InputKind::tangent; };
  const auto valid = [](NodeId id) { return id.valid(); };
  return std::any_of(graph.inputs().begin(), graph.inputs().end(), has_tangent) ||
         std::any_of(graph.gradients.begin(), graph.gradients.end(), valid);
}

std::vector<NodeId> graph_outputs(const Graph& graph) {
  std::vector<NodeId> outputs;
  for (const auto* ids : {&graph.results, &graph.gradients})
    for (const NodeId id : *ids)
      if (id.valid()) outputs.push_back(id);
  return outputs;
}

std::vector<bool> needed_nodes(const Graph& graph, std::span<const NodeId> roots) {
  const auto order = graph.order();
  std::vector<bool> needed(order.size(), false);
  for (const NodeId id : roots)
    if (id.valid()) needed[graph.position(id)] = true;
  for (std::size_t p = order.size(); p-- > 0;)
    if (needed[p])
      for (const NodeId operand : graph[order[p]].operands) needed[graph.position(operand)] = true;
  return needed;
}

std::vector<NodeId> unread_external_calls(const Graph& graph) {
  std::vector<NodeId> calls;
  const auto order = graph.order();
  const auto external = [&](NodeId id) { return is_external(graph[id].op); };
  if (std::none_of(order.begin(), order.end(), external)) return calls;
  const std::vector<bool> read = needed_nodes(graph, graph_outputs(graph));
  for (const NodeId id : order)
    if (external(id) && !read[graph.position(id)]) calls.push_back(id);
  return calls;
}

std::vector<bool> live_nodes(const Graph& graph) {
  std::vector<NodeId> roots = graph_outputs(graph);
  const std::vector<NodeId> effects = unread_external_calls(graph);
  roots.insert(roots.end(), effects.begin(), effects.end());
  return needed_nodes(graph, roots);
}

std::vector<bool> forward_nodes(const Graph& graph) {
  std::vector<NodeId> roots = graph.results;
  const std::vector<NodeId> effects = unread_external_calls(graph);
  if (effects.empty()) return needed_nodes(graph, roots);
  const std::vector<bool> late = needs_tangent(graph);
  for (const NodeId id : effects)
    if (!late[graph.position(id)]) roots.push_back(id);
  return needed_nodes(graph, roots);
}

std::vector<bool> needs_tangent(const Graph& graph) {
  std::vector<bool> needs(graph.order().size(), false);
  for (std::size_t p = 0; p < needs.size(); ++p) {
    const NodeId id = graph.order()[p];
    const std::vector<NodeId>& operands = graph[id].operands;
    needs[p] = (graph[id].op == Op::placeholder && graph.input_kind(id) == InputKind::tangent) ||
               std::any_of(operands.begin(), operands.end(),
                           [&](NodeId operand) { return needs[graph.position(operand)]; });
  }
  return needs;
}

}  // namespace recut
