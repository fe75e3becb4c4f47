// The f64 reference of an f32 graph: the arbiter if a compiled step and the interpreter, which
// rounds every value to f32, differ by more than the bound.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/eval/tensor.h"
#include "engine/ir/graph.h"

namespace recut {

// A copy of a graph with f64 in place of f32 and c128 in place of c64, in a pool of its own, with the
// mapping of nodes.
class DoubleGraph {
 public:
  explicit DoubleGraph(const Graph& graph);

  const Graph& graph() const { return to_; }
  NodeId mapped(NodeId id) const { return mapping_[from_->position(id)]; }

  // Converts values of the original's inputs to inputs of graph(): the same numbers.
  Inputs inputs(const Inputs& values) const;

 private:
  void add(NodeId id);
  void add_input(NodeId id);
  std::optional<std::vector<TensorType>> wide_types(const Node& node,
                                                    std::span<const Argument> arguments) const;
  NodeId converted(NodeId id, DType dtype);

  const Graph* from_;
  Graph to_;
  std::vector<NodeId> mapping_;  // by position
};

// An f32 tensor converted to f64, a c64 one to c128; other tensors unchanged.
Tensor in_double(const Tensor& tensor);

}  // namespace recut
