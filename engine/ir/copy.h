// Copies of graphs whose nodes are other nodes than the originals.
#pragma once

#include <vector>

#include "engine/ir/graph.h"

namespace recut {

// The node's arguments with `image(operand)` for each operand; every operand is valid.
template <typename Image>
std::vector<Argument> arguments_with(const Node& node, Image&& image) {
  std::vector<Argument> arguments = node.arguments;
  for (Argument& a : arguments)
    for_each_node(a, [&](NodeId& operand) { operand = image(operand); });
  return arguments;
}

// What a node of `from` becomes in another graph: an input of the same kind, or the same call of
// the operands' images, under this origin.
template <typename Image>
NodeId copy_node(const Graph& from, NodeId id, Graph& to, Origin origin, Image&& image) {
  const Node& node = from[id];
  if (node.op == Op::placeholder)
    return to.add_input(from.input_kind(id), node.type(), std::move(origin));
  return to.append(node.op, arguments_with(node, image), node.outputs, std::move(origin));
}

// The whole graph in a pool of its own, with its measurements: for who makes nodes while others
// read the original. Graphs that share a pool may be read by many threads at once, and a pool that
// grows may be read by none but the one that makes it grow.
Graph copy_apart(const Graph& graph);

}  // namespace recut
