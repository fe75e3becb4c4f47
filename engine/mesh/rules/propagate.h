// Chooses placements of every value of a graph from those of its inputs: axis by axis, and on each
// axis one strategy a call in program order, with the fewest bytes that ranks send.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/mesh/placement.h"
#include "engine/support/result.h"

namespace recut::mesh {

using AxisPlacements = std::vector<Placement>;  // one an axis

using ValueKey = std::pair<NodeId, std::size_t>;  // a node and one of its outputs

// The value that a call reads as an operand: a getitem reads one output.
ValueKey operand_value(const Graph& graph, NodeId reader, NodeId operand);

struct NodePlacements {
  std::vector<AxisPlacements> operands;  // as the call needs them, by operand_nodes
  std::vector<AxisPlacements> results;   // as it produces them
  std::vector<int> factors;              // by axis: that the axis is given to (Strategy::factor)
};

// A value that changes its placement on one axis, for one reader or several.
struct PlacementChange {
  NodeId node;
  std::size_t output = 0, axis = 0;
  Placement from, to;
  std::int64_t bytes = 0;  // that a rank sends; 0: a local change
};

struct GraphPlacements {
  std::map<NodeId, NodePlacements> nodes;
  // As they were weighed, in order of axes, then of the program: bytes of an axis don't count the
  // cuts of later ones.
  std::vector<PlacementChange> changes;

  std::int64_t bytes_sent() const;
};

// Inputs and constants without an entry are replicated. Fails where an entry doesn't have one
// placement an axis, or names a dimension that its input lacks.
Result<GraphPlacements> propagate(const Graph& graph, const std::vector<std::int64_t>& axis_sizes,
                                  const std::map<NodeId, AxisPlacements>& inputs);

}  // namespace recut::mesh
