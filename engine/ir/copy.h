// Copies nodes and graphs from one graph to another under a mapping of operands (as MLIR's
// IRMapping).
#pragma once

#include <vector>

#include "engine/ir/graph.h"

namespace recut {

// The node's arguments with each operand replaced by its mapped node.
template <typename Mapped>
std::vector<Argument> arguments_with(const Node& node, Mapped&& mapped) {
  std::vector<Argument> arguments = node.arguments;
  for (Argument& a : arguments)
    for_each_node(a, [&](NodeId& operand) { operand = mapped(operand); });
  return arguments;
}

// Clones a node of `from` into `to` under this origin: an input of the same kind, or the same call
// on the mapped operands.
template <typename Mapped>
NodeId copy_node(const Graph& from, NodeId id, Graph& to, Origin origin, Mapped&& mapped) {
  const Node& node = from[id];
  if (node.op == Op::placeholder)
    return to.add_input(from.input_kind(id), node.type(), std::move(origin));
  return to.append(node.op, arguments_with(node, mapped), node.outputs, std::move(origin));
}

// Clones the whole graph, with its measurements and signature, into a pool of its own. Threads may share a pool
// for reading, but a growing pool belongs to one thread: a thread that adds nodes needs a copy.
Graph deep_copy(const Graph& graph);

}  // namespace recut
