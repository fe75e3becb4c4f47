// Splat analysis: which tensors have one number in every element, and which number (LLVM's and
// MLIR's splat constants).
#pragma once

#include <optional>
#include <unordered_map>

#include "engine/eval/tensor.h"
#include "engine/ir/argument.h"
#include "engine/ir/graph.h"
#include "engine/rewrite/affine_values.h"

namespace recut {

// One number, rounded to its dtype.
struct SplatValue {
  DType dtype = DType::none;
  double real = 0;           // of a floating dtype
  std::int64_t integer = 0;  // of any other dtype; booleans are 0 and 1

  // Equality with the number in any dtype. 0.0 and -0.0 both equal 0; a NaN equals nothing.
  bool is(int number) const { return is_floating(dtype) ? real == number : integer == number; }
  // Compares by bits, except that all NaNs are equal.
  friend bool operator==(const SplatValue& a, const SplatValue& b);
};

// The fill_value argument of `full`: a double, an int or a bool.
Argument as_argument(const SplatValue& value);

// The splats among the nodes of one pool. A node's value depends only on the calls under it, so
// that it is the same in every graph on the pool. Arithmetic and rounding are those of the
// interpreter's kernel on one element.
class SplatAnalysis {
 public:
  explicit SplatAnalysis(const NodePool& pool) : pool_(pool), affine_values_(pool) {}

  // Analyses every node of the graph.
  explicit SplatAnalysis(const Graph& graph);

  // Analyses one node, after its operands. Splats are created values, views and copies of splats,
  // element-wise results of splats alone, and affine values whose steps are all 0.
  void analyze(NodeId id);

  // Null if the value is no known splat, has no elements, or has not been analysed.
  const SplatValue* of(NodeId id) const;

  // The affine value of an integer or boolean node; null if it is not affine.
  const AffineValue* affine_value_of(NodeId id) const { return affine_values_.of(id); }

 private:
  std::optional<SplatValue> value_of(NodeId id) const;
  std::optional<SplatValue> created(const Node& node) const;
  std::optional<SplatValue> absorbed(const Node& node) const;
  std::optional<SplatValue> copied(const Node& node) const;
  std::optional<SplatValue> computed(const Node& node) const;
  bool operands_are_splats(const Node& node) const;

  const NodePool& pool_;
  AffineAnalysis affine_values_;
  std::unordered_map<NodeId, SplatValue> values_;  // looked up only, never walked
};

}  // namespace recut
