// What doesn't change from run to run of a frozen graph.
#pragma once

#include <unordered_map>

#include "engine/ir/graph.h"

namespace recut {

class FrozenValues {
 public:
  // Whether a node of `graph` is a parameter, a constant or computed from nothing else; numbers
  // that are drawn are not.
  bool contains(const Graph& graph, NodeId id);

 private:
  std::unordered_map<NodeId, bool> known_;  // looked up only, never walked
};

}  // namespace recut
