// Rebuilds a graph node by node: graphs are immutable, and passes derive new ones with this.
#pragma once

#include <functional>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

// For each node of `from` in order, `replace(to, old, arguments)` returns the node of `to` that
// replaces `old`. `arguments` are the arguments of `old` with every operand already replaced; if
// none was, they are the original list, uncopied. For a node that stays, return keep_node(…).
// Inputs and constants are carried over without asking; results and gradients follow their
// replacements. Other names (aliases) stay with nodes that do.
using Replace =
    std::function<NodeId(Graph& to, NodeId old, const std::vector<Argument>& arguments)>;
Graph rebuild(const Graph& from, const Replace& replace);

// Carries the call to the new graph under the same origin. Types are inferred again only if the
// type of an operand changed.
NodeId keep_node(const Graph& from, Graph& to, NodeId old, const std::vector<Argument>& arguments);

// The subgraph of the kept nodes (by position), under their names, with the same results and
// gradients. Operands of kept nodes must be kept.
Graph with_nodes(const Graph& graph, const std::vector<bool>& keep);

// Dead code elimination; placeholders stay.
Graph without_dead_nodes(const Graph& graph);

}  // namespace recut
