// Values that are equal in every element, and what they are.
#pragma once

#include <optional>
#include <unordered_map>

#include "engine/eval/tensor.h"
#include "engine/ir/argument.h"
#include "engine/ir/graph.h"
#include "engine/rewrite/positions.h"

namespace recut {

// One number, as a value of its dtype holds it.
struct UniformValue {
  DType dtype = DType::none;
  double real = 0;           // where the dtype is floating
  std::int64_t integer = 0;  // where it is not; booleans are 0 and 1

  // Equality with the number, whatever the dtype; 0 is both zeros and never a NaN.
  bool is(int number) const { return is_floating(dtype) ? real == number : integer == number; }
  // By bits, except that all NaNs are one.
  friend bool operator==(const UniformValue& a, const UniformValue& b);
};

// As `full` takes it: a double, an int or a bool.
Argument as_argument(const UniformValue& value);

// What is known of the nodes of one pool. A node's value is a matter of the calls under it, so that
// it is the same in every graph that has the node. The arithmetic is the interpreter's own kernel
// on one element, and so is its rounding.
class UniformValues {
 public:
  explicit UniformValues(const NodePool& pool) : pool_(pool), positions_(pool) {}

  // Of every node of the graph.
  explicit UniformValues(const Graph& graph);

  // Looks at one node more, whose operands have been looked at: at what creates such a value, what
  // copies or views one, what computes element by element from nothing else, and at whole numbers
  // and comparisons of positions that turn out to be one.
  void learn(NodeId id);

  // Null where the value isn't known to be uniform, has no elements, or hasn't been looked at.
  const UniformValue* of(NodeId id) const;

  // What is known of whole numbers and bools that aren't uniform, or are.
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
