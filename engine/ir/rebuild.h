// Makes a graph anew, node by node: how passes change graphs that never change.
#pragma once

#include <functional>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

// For each node of `from` in order, `replace(to, old, arguments)` says which node of `to` stands
// for `old`. `arguments` are old's arguments with every operand already replaced: old's own list,
// uncopied, where none of them was. keep_node(…) is the answer for a node that stays as it is.
// Inputs and constants are carried over without asking; results and gradients follow their
// replacements. Other names (aliases) stay with nodes that do.
using Replace =
    std::function<NodeId(Graph& to, NodeId old, const std::vector<Argument>& arguments)>;
Graph rebuild(const Graph& from, const Replace& replace);

// The same call in the new graph under the same origin; types are inferred anew only where an
// operand's type changed, and nothing is done anew where none of the operands did.
NodeId keep_node(const Graph& from, Graph& to, NodeId old, const std::vector<Argument>& arguments);

// The graph's nodes that are kept (by position), under their names; results and gradients as they
// were. What a kept node stands on has to be kept.
Graph with_nodes(const Graph& graph, const std::vector<bool>& keep);

// The graph without nodes that nothing needs; placeholders stay.
Graph without_dead_nodes(const Graph& graph);

}  // namespace recut
