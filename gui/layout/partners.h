// The side of the picture on which every node stands, and the forward node beside it.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/ir/graph.h"
#include "gui/layout/scene.h"

namespace recut::gui::layout {

struct NodePlacement {
  Side side = Side::forward;
  std::uint32_t forward_index = 0;  // SceneNode::forward_index
  bool floating = false;            // backward, but without a tangent: its place is its readers'
  bool mirrors = false;             // SceneNode::mirrors
};

// The placements by node position. Data flows upwards on the backward side: where a backward node
// reads another, its forward_index is no larger than the other's.
std::vector<NodePlacement> place_nodes(const Graph& graph);

}  // namespace recut::gui::layout
