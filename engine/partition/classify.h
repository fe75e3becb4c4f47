// Which pass each node of a joint graph belongs to, by data flow.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

// By position in the graph. A node in neither set is *unclaimed*: forward could compute it, only
// backward uses it.
struct JointClasses {
  std::vector<bool> forward;          // results need it; every input that is no tangent
  std::vector<bool> tangent_closure;  // needs a tangent
  std::vector<bool> backward;         // the tangent closure, and every gradient
  std::vector<bool> returned;         // is a result or a gradient

  static constexpr std::uint32_t kNoOrder = 0xffffffff;
  std::vector<std::uint32_t> forward_order;  // running number among `forward`, or kNoOrder

  // Steps to the nearest user outside forward, along users; 0 outside forward; kUnreached where
  // backward never uses what comes of it.
  static constexpr std::int64_t kUnreached = 1'000'000'000;
  std::vector<std::int64_t> distance;

  bool any_backward = false;  // whether `backward` has a node

  explicit JointClasses(const Graph& graph, const Users& users);
};

}  // namespace recut
