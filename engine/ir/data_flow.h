// Reachability in a graph along data dependences.
#pragma once

#include <span>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

// The graph has a backward: tangents or gradients. A graph without is a forward graph: its step is
// inference, and keeps nothing for later.
bool is_joint(const Graph& graph);

// All outputs that exist: results, then gradients.
std::vector<NodeId> graph_outputs(const Graph& graph);

// Backward reachability, by position: true for each root and each transitive operand of one.
// Invalid roots are ignored.
std::vector<bool> needed_nodes(const Graph& graph, std::span<const NodeId> roots);

// External calls (external_operator.h) that no output needs. They may have effects, so they are no
// dead code.
std::vector<NodeId> unread_external_calls(const Graph& graph);

// Nodes that some output or unread external call needs: everything that is not dead code.
std::vector<bool> live_nodes(const Graph& graph);

// Nodes that forward runs in any plan: results and external calls without a tangent need them.
std::vector<bool> forward_nodes(const Graph& graph);

// Forward reachability from the tangents, by position.
std::vector<bool> needs_tangent(const Graph& graph);

}  // namespace recut
