// Where the boxes of a joint graph go: two columns, mirrored at the border.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/ir/graph.h"

namespace recut::gui {

struct Placed {
  NodeId node;
  bool backward = false;  // right column
  std::size_t row = 0;    // from the top
};

struct MirrorLayout {
  std::vector<Placed> placed;  // in program order
  std::size_t rows = 0;
};

// Forward nodes take rows in program order. Nodes that need a tangent stand in the rows of the
// forward nodes with their autograd sequence number, the earliest to run lowest; one without a
// partner stays with the backward node before it. A band of rows is as high as the fuller of its
// two sides, so that no two boxes of a column share a row.
MirrorLayout mirror_layout(const Graph& graph);

}  // namespace recut::gui
