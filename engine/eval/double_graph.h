// Graphs of f32 computed in f64 throughout: the judge where a compiled step and the interpreter,
// which rounds every value to f32, differ by more than they should.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/eval/tensor.h"
#include "engine/ir/graph.h"

namespace recut {

// A graph whose f32 values are f64, in a pool of its own, and what stands for each node.
class DoubleGraph {
 public:
  explicit DoubleGraph(const Graph& graph);

  const Graph& graph() const { return to_; }
  NodeId image(NodeId id) const { return images_[from_->position(id)]; }

  // Values of `from`'s inputs as values of graph()'s: the same numbers.
  Inputs inputs(const Inputs& values) const;

 private:
  void add(NodeId id);
  void add_input(NodeId id);
  std::optional<std::vector<TensorType>> wide_types(const Node& node,
                                                    std::span<const Argument> arguments) const;
  NodeId converted(NodeId id, DType dtype);

  const Graph* from_;
  Graph to_;
  std::vector<NodeId> images_;  // by position
};

// The same numbers as f64 where they are f32; other tensors as they are.
Tensor in_double(const Tensor& tensor);

}  // namespace recut
