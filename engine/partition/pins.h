// Choices made by hand, which a plan has to respect.
#pragma once

#include <vector>

#include "engine/ir/graph.h"

namespace recut {

// A saved node runs once, so that whatever backward needs of it is kept; a recomputed one runs
// again in backward for the readers there that need a tangent. Views stand for what is behind them.
struct Pins {
  std::vector<NodeId> save;
  std::vector<NodeId> recompute;

  bool empty() const { return save.empty() && recompute.empty(); }
};

}  // namespace recut
