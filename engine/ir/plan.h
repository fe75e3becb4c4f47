// A plan: the order in which a graph's nodes run, forward, then backward.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

// `forward` and `backward` name calls only (inputs and constants are there from the start). A node
// that is listed twice is recomputed: the plan expresses recomputation, and the graph is never
// copied for it. Backward can read the inputs and the values in `saved`; everything else that it
// needs must run in `backward`. Results live to the end, but count as saved only if `saved` lists
// them.
struct Plan {
  std::vector<NodeId> forward;
  std::vector<NodeId> saved;
  std::vector<NodeId> backward;
};

}  // namespace recut
