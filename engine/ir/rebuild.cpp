#include "engine/ir/rebuild.h"

#include "engine/ir/call.h"
#include "engine/ir/data_flow.h"

namespace recut {
namespace {

// Maps the nodes of a graph to their replacements in the new graph.
class NodeMapping {
 public:
  explicit NodeMapping(const Graph& from) : from_(from), mapping_(from.order().size()) {}

  NodeId of(NodeId id) const { return id.valid() ? mapping_[from_.position(id)] : id; }

  void set(NodeId id, NodeId mapped) { mapping_[from_.position(id)] = mapped; }

  // True if an operand of the node was replaced.
  bool differ(const Node& node) const {
    for (const NodeId operand : node.operands)
      if (of(operand) != operand) return true;
    return false;
  }

  // Valid until the next call: one scratch list serves all nodes.
  const std::vector<Argument>& arguments(const Node& node) {
    scratch_ = node.arguments;
    for (Argument& a : scratch_) for_each_node(a, [&](NodeId& operand) { operand = of(operand); });
    return scratch_;
  }

 private:
  const Graph& from_;
  std::vector<NodeId> mapping_;  // by position
  std::vector<Argument> scratch_;
};

// True if two argument lists differ in the type of some operand.
bool operand_types_differ(const NodePool& pool, std::span<const Argument> before,
                          std::span<const Argument> after) {
  if (before.size() != after.size()) return true;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto *old = before[i].get<NodeId>(), *now = after[i].get<NodeId>();
    if ((old == nullptr) != (now == nullptr)) return true;
    if (old != nullptr && *old != *now && pool[*old].outputs != pool[*now].outputs) return true;
    const auto *olds = before[i].get<ArgumentList>(), *nows = after[i].get<ArgumentList>();
    if ((olds == nullptr) != (nows == nullptr)) return true;
    if (olds != nullptr && operand_types_differ(pool, *olds, *nows)) return true;
  }
  return false;
}

// Other names of nodes that both graphs have.
void carry_aliases(const Graph& from, Graph& to) {
  for (const auto& [alias, id] : from.aliases())
    if (to.contains(id)) to.add_alias(alias, id);
}

}  // namespace

NodeId keep_node(const Graph& from, Graph& to, NodeId old, const std::vector<Argument>& arguments) {
  const Node& node = from[old];
  if (&arguments == &node.arguments) return to.carry(from, old);
  std::vector<TensorType> outputs = node.outputs;
  if (operand_types_differ(to.pool(), node.arguments, arguments)) {
    auto types = infer_types(operator_of(node.op), arguments,
                             [&](NodeId id) { return to.pool().types_of(id); });
    RECUT_CHECK(types.ok(),
                "a replaced operand does not fit its user: the pass gave it another type");
    outputs = std::move(*types);
  }
  return to.carry(from, old, arguments, std::move(outputs));
}

Graph rebuild(const Graph& from, const Replace& replace) {
  Graph to = from.empty_like();
  NodeMapping mapping(from);
  for (const NodeId id : from.order()) {
    const Node& node = from[id];
    if (operator_of(node.op).is(kInput))
      mapping.set(id, to.carry(from, id));
    else if (!mapping.differ(node))
      mapping.set(id, replace(to, id, node.arguments));
    else
      mapping.set(id, replace(to, id, mapping.arguments(node)));
  }
  for (const NodeId id : from.results) to.results.push_back(mapping.of(id));
  for (const NodeId id : from.gradients) to.gradients.push_back(mapping.of(id));
  carry_aliases(from, to);
  return to;
}

Graph with_nodes(const Graph& graph, const std::vector<bool>& keep) {
  Graph to = graph.empty_like();
  for (const NodeId id : graph.order())
    if (keep[graph.position(id)]) to.carry(graph, id);
  to.results = graph.results;
  to.gradients = graph.gradients;
  carry_aliases(graph, to);
  return to;
}

Graph without_dead_nodes(const Graph& graph) {
  std::vector<bool> keep = live_nodes(graph);
  for (const NodeId id : graph.inputs()) keep[graph.position(id)] = true;
  return with_nodes(graph, keep);
}

}  // namespace recut
