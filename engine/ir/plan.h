// A plan: the order in which a graph's nodes run, forward, then backward.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

// `forward` and `backward` name calls only (inputs and constants are there from the start). A node
// that stands twice is recomputed: recomputation is a matter of the plan, the graph is never copied
// for it. What backward has of forward is what `saved` names, and the inputs; everything else that
// it needs has to be run in `backward`. Results live to the end, but count as saved only where
// `saved` names them.
struct Plan {
  std::vector<NodeId> forward;
  std::vector<NodeId> saved;
  std::vector<NodeId> backward;
};

}  // namespace recut
