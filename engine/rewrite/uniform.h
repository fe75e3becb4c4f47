// Splat analysis: which tensors have one number in every element, and which number (LLVM's and
// MLIR's splat constants).
#pragma once

#include <optional>
#include <unordered_map>

#include "engine/eval/tensor.h"
#include "engine/ir/argument.h"
#include "engine/ir/graph.h"
#include "engine/rewrite/positions.h"

namespace recut {

// One number, rounded to its dtype.
struct UniformValue {
  DType dtype = DType::none;
  double real = 0;           // of a floating dtype
  std::int64_t integer = 0;  // of any other dtype; booleans are 0 and 1

  // Equality with the number in any dtype. 0.0 and -0.0 both equal 0; a NaN equals nothing.
  bool is(int number) const { return is_floating(dtype) ? real == number : integer == number; }
  // By bits, except that all NaNs are one.
  friend bool operator==(const UniformValue& a, const UniformValue& b);
};

// The fill_value argument of `full`: a double, an int or a bool.
Argument as_argument(const UniformValue& value);

// The splats among the nodes of one pool. A node's value depends only on the calls under it, so
// that it is the same in every graph on the pool. Arithmetic and rounding are those of the
// interpreter's kernel on one element.
class UniformValues {
 public:
  explicit UniformValues(const NodePool& pool) : pool_(pool), positions_(pool) {}

  // Analyses every node of the graph.
  explicit UniformValues(const Graph& graph);

  // Analyses one node, after its operands. Splats are created values, views and copies of splats,
  // element-wise results of splats alone, and affine values whose steps are all 0.
  void learn(NodeId id);

  // Null if the value is no known splat, has no elements, or has not been analysed.
  const UniformValue* of(NodeId id) const;

  // The affine value of an integer or boolean node; null if it is not affine.
  const Positions* positions_of(NodeId id) const { return positions_.of(id); }

 private:
  std::optional<UniformValue> value_of(NodeId id) const;
  std::optional<UniformValue> created(const Node& node) const;
  std::optional<UniformValue> absorbed(const Node& node) const;
  std::optional<UniformValue> copied(const Node& node) const;
  std::optional<UniformValue> computed(const Node& node) const;
  bool operands_uniform(const Node& node) const;

  const NodePool& pool_;
  PositionValues positions_;
  std::unordered_map<NodeId, UniformValue> values_;  // looked up only, never walked
};

}  // namespace recut
