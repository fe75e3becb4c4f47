// Queries of a graph by data flow alone: which nodes need which.
#pragma once

#include <span>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

// Results, then the gradients that there are.
std::vector<NodeId> goals_of(const Graph& graph);

// By position: whether a node is a goal, or one needs it. Goals that are invalid ask for nothing.
std::vector<bool> needed_nodes(const Graph& graph, std::span<const NodeId> goals);

// The same of goals_of(graph): every node that is not dead.
std::vector<bool> live_nodes(const Graph& graph);

// By position: whether a node needs a tangent, directly or not.
std::vector<bool> needs_tangent(const Graph& graph);

}  // namespace recut
