#include "engine/ir/rebuild.h"

#include "engine/ir/call.h"

namespace recut {
namespace {

NodeId mapped(const std::vector<NodeId>& map, const Graph& from, NodeId id) {
  return id.valid() ? map[from.position(id)] : id;
}

bool operand_types_changed(const Graph& from, const Graph& to, const std::vector<Argument>& before,
                           const std::vector<Argument>& after) {
  std::vector<NodeId> old_ids, new_ids;
  for (const Argument& a : before) for_each_node(a, [&](NodeId id) { old_ids.push_back(id); });
  for (const Argument& a : after) for_each_node(a, [&](NodeId id) { new_ids.push_back(id); });
  if (old_ids.size() != new_ids.size()) return true;
  for (std::size_t i = 0; i < old_ids.size(); ++i)
    if (from[old_ids[i]].outputs != to[new_ids[i]].outputs) return true;
  return false;
}

// Other names of nodes that both graphs have.
void carry_aliases(const Graph& from, Graph& to) {
  for (const auto& [alias, id] : from.aliases())
    if (to.contains(id)) to.add_alias(alias, id);
}

}  // namespace

NodeId keep_node(const Graph& from, Graph& to, NodeId old, std::vector<Argument> arguments) {
  const Node& node = from[old];
  std::vector<TensorType> outputs = node.outputs;
  if (operand_types_changed(from, to, node.arguments, arguments)) {
    auto types = infer_types(operator_of(node.op), arguments,
                             [&](NodeId id) { return to.pool().types_of(id); });
    RECUT_CHECK(types.ok(),
                "a replaced operand does not fit its user: the pass gave it another type");
    outputs = std::move(*types);
  }
  return to.append(node.op, std::move(arguments), std::move(outputs), from.origin(old));
}

Graph rebuild(const Graph& from, const Replace& replace) {
  Graph to = from.fresh();
  std::vector<NodeId> map(from.order().size());
  for (const NodeId id : from.order()) {
    const Node& node = from[id];
    NodeId& image = map[from.position(id)];
    if (node.op == Op::placeholder) {
      image = to.add_input(from.input_kind(id), node.type(), from.origin(id));
    } else if (node.op == Op::constant) {
      image = to.add_constant(node.type(), from.origin(id));
    } else {
      std::vector<Argument> arguments = node.arguments;
      for (Argument& a : arguments)
        for_each_node(a, [&](NodeId& operand) { operand = mapped(map, from, operand); });
      image = replace(to, id, std::move(arguments));
    }
  }
  for (const NodeId id : from.results) to.results.push_back(mapped(map, from, id));
  for (const NodeId id : from.gradients) to.gradients.push_back(mapped(map, from, id));
  carry_aliases(from, to);
  return to;
}

Graph without_dead_nodes(const Graph& graph) {
  std::vector<bool> needed(graph.order().size(), false);
  const auto need = [&](NodeId id) {
    if (id.valid()) needed[graph.position(id)] = true;
  };
  for (const NodeId id : graph.results) need(id);
  for (const NodeId id : graph.gradients) need(id);
  for (std::size_t p = graph.order().size(); p-- > 0;)
    if (needed[p])
      for (const NodeId operand : graph[graph.order()[p]].operands) need(operand);
  Graph to = graph.fresh();
  for (const NodeId id : graph.order()) {
    const Node& node = graph[id];
    if (node.op == Op::placeholder)
      to.add_input(graph.input_kind(id), node.type(), graph.origin(id));
    else if (needed[graph.position(id)])
      to.append(node.op, node.arguments, node.outputs, graph.origin(id));
  }
  to.results = graph.results;
  to.gradients = graph.gradients;
  carry_aliases(graph, to);
  return to;
}

}  // namespace recut
