// The values of a frozen graph that are the same in every run.
#pragma once

#include <unordered_map>

#include "engine/ir/graph.h"

namespace recut {

class FrozenValues {
 public:
  // Tells whether a node of `graph` is a parameter, a constant, or computed from such alone without
  // random draws.
  bool contains(const Graph& graph, NodeId id);

 private:
  std::unordered_map<NodeId, bool> known_;  // looked up only, never walked
};

}  // namespace recut
