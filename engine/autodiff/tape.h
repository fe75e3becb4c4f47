// What reverse and forward sweeps share: which nodes can carry a derivative, and what has no row.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/autodiff/row.h"

namespace recut::autodiff {

// The derivative of a call as the subject of complaints from within its rule.
Builder::Place place_of_derivative(const Graph& graph, NodeId call);

// Operators that a derivative would have to pass and that have no row, with the number of calls and
// the first one that needs it.
class Gaps {
 public:
  struct Missing {
    Op op;
    std::string first;
    int calls = 0;
  };

  // A node that the rule of another call made is that call's; see Builder::Place::subject.
  void add(Builder& b, NodeId node);
  bool empty() const { return missing_.empty(); }
  std::string first() const;        // the first operator, and that it has no rule
  Diagnostics diagnostics() const;  // one an operator, by name

 private:
  std::map<std::string_view, Missing> missing_;
};

// A gradient, or a tangent, of one output of a node.
struct Seed {
  NodeId node;
  Value value;
  std::int64_t output = 0;
};

// Whether the node's value (its first output, where it has several) is real.
bool is_real(const Graph& graph, NodeId node);

// Whether a derivative may flow from an active operand through this call, by its row; true where it
// has none.
bool is_active(const Graph& graph, NodeId call, const std::function<bool(NodeId)>& active);

// The nodes that `outputs` need, without borders and what these need; operands before users, and
// otherwise as they are read from the outputs.
std::vector<NodeId> stretch(const Graph& graph, std::span<const NodeId> outputs,
                            const std::function<bool(NodeId)>& border);

// A formula's or a caller's value in the operand's dtype and shape.
Value fitted(const Value& value, const TensorType& type);

// An expansion at a site: its outputs, and the nodes between the call's operands and them.
struct Expanded {
  std::vector<Value> outputs;
  std::vector<NodeId> tape;
};
Expanded expand(const Row& row, Site& site, const Node& call);

// What the row of one call made, and the gradients that it gave the call's operands.
struct Pulled {
  NodeId call;
  std::vector<NodeId> made;                          // in order
  std::vector<std::pair<NodeId, NodeId>> gradients;  // (operand, its gradient so far)
};

// What a sweep over a graph's own calls tells, so that others see its steps.
struct Trail {
  std::vector<std::size_t> marks;  // where in the graph's order each call's new nodes begin
  std::vector<Pulled> pulled;      // of a reverse sweep
};

// Reverse mode. Gradients of `wanted` nodes, in their order; invalid where no seed depends on the
// node, zeros where all derivatives on the way are (within a call: invalid then, too). `tape` holds
// every node between them and the seeds, operands first. New nodes get the module path and the
// sequence number of their forward partner. `trail`: null within a call, whose place they get then.
//
// After Griewank and Walther, Evaluating Derivatives (2nd edition, 2008), chapters 3 and 6.
std::vector<Value> pull_back(Builder& b, std::span<const NodeId> tape, std::span<const Seed> seeds,
                             std::span<const NodeId> wanted, Gaps& gaps, Trail* trail = nullptr);

// Forward mode: tangents of the `wanted` outputs (their `value` is not read) from those of seeds.
// Where a row has formulas only, the Jacobian is applied as the transpose of its transpose: the
// formula is linear in the output's gradient, and reverse mode over it gives the product.
std::vector<Value> push_forward(Builder& b, std::span<const NodeId> tape,
                                std::span<const Seed> seeds, std::span<const Seed> wanted,
                                Gaps& gaps, Trail* trail = nullptr);

}  // namespace recut::autodiff
