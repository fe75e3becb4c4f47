// Affine value analysis: integer tensors that are affine in their indices, and comparisons of them.
// It recognises masks made of index arithmetic, such as the causal mask of attention.
//
//   arange(4)                           start 0, steps [1]
//   unsqueeze(arange(4), 1)             start 0, steps [1, 0]
//   le(arange(4), unsqueeze(…, 1))      start 0, steps [1, -1], true where the value is >= 0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/ir/call.h"
#include "engine/ir/graph.h"

namespace recut {

// The integer start + sum over d of steps[d] * index[d]; of a boolean value, the predicate that it
// is at least 0. The step along a dimension of length 1 is 0.
struct AffineValue {
  std::int64_t start = 0;
  std::vector<std::int64_t> steps;  // one a dimension

  bool is_splat() const;
  friend bool operator==(const AffineValue& a, const AffineValue& b) {
    return a.start == b.start && a.steps == b.steps;
  }
};

// The affine values among the nodes of one pool: created values, views and concatenations of affine
// values, their sums, differences and comparisons. A value that may wrap around in its dtype is not
// affine. A node's affine value depends only on the calls under it, so that it is the same in every
// graph on the pool.
class AffineAnalysis {
 public:
  explicit AffineAnalysis(const NodePool& pool) : pool_(pool) {}

  // Analyses one node, after its operands. O(rank) a node.
  void analyze(NodeId id);
  // Records a value known to be one number, or one boolean, in every element.
  void add_splat(NodeId id, std::int64_t number);

  // Null if the node is not affine or has not been analysed.
  const AffineValue* of(NodeId id) const;

 private:
  std::optional<AffineValue> affine_value_of(NodeId id) const;
  void record(NodeId id, AffineValue affine);

  const NodePool& pool_;
  std::unordered_map<NodeId, AffineValue> values_;  // looked up only, never walked
};

}  // namespace recut
