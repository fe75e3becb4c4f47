// A node's way through the passes: its counterpart in another pass's graph, and its changes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/passes/pipeline_report.h"

namespace recut::gui {

// The graph after `pass` passes; 0: as it was read.
const Graph& graph_after(const PipelineReport& passes, std::size_t pass);

// The node that stands for `id`, of the graph after `from` passes, in the one after `to`; invalid
// if it is gone, or wasn't there yet. A pass's own report comes first, then the same node, then its
// name.
NodeId trace_node(const PipelineReport& passes, NodeId id, std::size_t from, std::size_t to);

// Traces every node of the first graph, by position: linear in nodes and changes.
std::vector<NodeId> trace_nodes(const PipelineReport& passes, std::size_t from, std::size_t to);

// An event of a node in one pass.
struct NodeEvent {
  std::size_t pass = 0;  // 0: read from the file
  NodeId node;           // in the graph after it; invalid: it is gone
  std::string rule;      // why; "" where nothing says
  std::string line;      // the node as text, after the pass
};

// Everything that happened on the way of a node of the graph after `pass` passes: where it comes
// from, each pass in which its line changed, and where it ends.
std::vector<NodeEvent> node_history(const PipelineReport& passes, NodeId id, std::size_t pass);

// The nodes of one change of pass number `pass` (from 1) that a node of its graph takes part in:
// the changed node, if it is still there, and all nodes that the change made; nothing if the node
// is in no change.
std::vector<NodeId> changed_together(const PipelineReport& passes, NodeId id, std::size_t pass);

// The passes that changed something, between 0 and the last: where stepping stops.
std::vector<std::size_t> pass_stops(const PipelineReport& passes);

}  // namespace recut::gui
