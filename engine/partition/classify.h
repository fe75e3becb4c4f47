// Classifies the nodes of a joint graph by data flow: which belong to forward, which to backward.
// PyTorch's partitioner does the same (torch/_functorch/partitioners.py, classify_nodes).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

// By position in the graph. A node in neither set is *unclaimed*: forward could compute it, but
// only backward uses it. Computing all of it takes O(nodes + edges).
struct JointClasses {
  std::vector<bool> forward;          // the results need it; every input but the tangents
  std::vector<bool> tangent_closure;  // depends on a tangent
  std::vector<bool> backward;         // the tangent closure, and every gradient
  std::vector<bool> returned;         // is a result or a gradient

  static constexpr std::uint32_t kNoOrder = 0xffffffff;
  std::vector<std::uint32_t> forward_order;  // running number among `forward`, or kNoOrder

  // Edges to the nearest user outside forward (PyTorch: dist_from_bw). A node outside forward has
  // 0, one whose value never reaches backward has kUnreached.
  static constexpr std::int64_t kUnreached = 1'000'000'000;
  std::vector<std::int64_t> distance;

  bool any_backward = false;  // `backward` has a node

  explicit JointClasses(const Graph& graph, const Users& users);
};

}  // namespace recut
