// Whole numbers that grow in equal steps along each dimension, and comparisons of such numbers:
// what a graph says of positions, such as which keys a query of causal attention sees.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/ir/call.h"
#include "engine/ir/graph.h"

namespace recut {

// start + sum over dimensions d of steps[d] * index[d], of a value of whole numbers. A value of
// bools holds where that is at least 0. Along dimensions of one element the step is 0.
struct Positions {
  std::int64_t start = 0;
  std::vector<std::int64_t> steps;  // one a dimension

  bool is_uniform() const;
  friend bool operator==(const Positions& a, const Positions& b) {
    return a.start == b.start && a.steps == b.steps;
  }
};

// What is known of the nodes of one pool. Known are values that the graph creates, what moves or
// joins their elements, sums and differences of them, and comparisons; never one that its dtype
// wraps around. A node's positions are a matter of the calls under it.
class PositionValues {
 public:
  explicit PositionValues(const NodePool& pool) : pool_(pool) {}

  // Looks at one node, whose operands have been looked at.
  void learn(NodeId id);
  // Of a value that is known to be one number, or one bool.
  void learn_uniform(NodeId id, std::int64_t number);

  // Null where nothing is known, or the node hasn't been looked at.
  const Positions* of(NodeId id) const;

 private:
  std::optional<Positions> positions_of(NodeId id) const;
  void keep(NodeId id, Positions positions);

  const NodePool& pool_;
  std::unordered_map<NodeId, Positions> values_;  // looked up only, never walked
};

}  // namespace recut
