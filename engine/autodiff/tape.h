// The sweeps of reverse and forward mode, and their common parts: activity of nodes, and operators
// without a derivative rule.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/autodiff/derivative_rule.h"

namespace recut::autodiff {

// Names the derivative of a call as the subject of diagnostics from within its rule.
Builder::Location location_of_derivative(const Graph& graph, NodeId call);

// Operators that a derivative would have to pass and that have no rule, each with the number of its
// calls and the first call.
class MissingRules {
 public:
  struct Missing {
    Op op;
    std::string first;
    int calls = 0;
  };

  // A node that the rule of another call added is reported under that call.
  void add(Builder& b, NodeId node);
  bool empty() const { return missing_.empty(); }
  std::string first() const;        // "OPERATOR has no derivative rule", for the first by name
  Diagnostics diagnostics() const;  // one an operator, by name

 private:
  std::map<std::string_view, Missing> missing_;
};

// The gradient or tangent of one output of a node, which a sweep starts from.
struct Seed {
  NodeId node;
  Value value;
  std::int64_t output = 0;
};

// Tells whether the node's value (the first of several outputs) is real or complex.
bool is_real(const Graph& graph, NodeId node);

// Tells whether a derivative may flow from an active operand through this call. A call without a
// rule is active.
bool is_active(const Graph& graph, NodeId call, const std::function<bool(NodeId)>& active);

// The backward slice of `outputs`: all nodes that they depend on, up to boundary nodes, which are
// left out (as MLIR's getBackwardSlice). Operands precede users.
std::vector<NodeId> backward_slice(const Graph& graph, std::span<const NodeId> outputs,
                                   const std::function<bool(NodeId)>& is_boundary);

// The use of the call's rule: plain if no operand and no output is complex.
ComplexRule complex_rule_of(const Graph& graph, NodeId call);

// Conjugates complex gradients if the rule says so; it leaves others as they are.
Value conjugated(const Value& gradient, ComplexRule rule);
Gradients conjugated(Gradients gradients, ComplexRule rule);

// Converts a gradient to the operand's dtype and sums it to the operand's shape.
Value fitted(const Value& value, const TensorType& type);

// A call decomposed: its outputs by simpler operators, and the nodes between them and the call's
// operands.
struct DecomposedCall {
  std::vector<Value> outputs;
  std::vector<NodeId> tape;
};
DecomposedCall decompose(const DerivativeRule& rule, VjpContext& context, const Node& call);

// The nodes that the rule of one call added, and the gradients of the call's operands.
struct VjpStep {
  NodeId call;
  std::vector<NodeId> new_nodes;                     // in order
  std::vector<std::pair<NodeId, NodeId>> gradients;  // (operand, its gradient so far)
};

// A record of a sweep over the graph's own calls.
struct TapeTrace {
  std::vector<std::size_t> call_starts;  // where in the graph's order each call's new nodes begin
  std::vector<VjpStep> vjp_steps;        // of a reverse sweep
};

// Reverse mode: the gradients of the leaves, in order. The gradient of a leaf that no seed depends
// on is invalid; if all derivatives on the way are zero, it is zeros (invalid within a decomposed
// call). `tape` has every node between leaves and seeds, operands first. New nodes get the module
// path and sequence number of their forward partner. `trace` is null within a decomposed call,
// whose module path and number they get.
//
// After Griewank and Walther, Evaluating Derivatives (2nd edition, 2008), chapters 3 and 6.
std::vector<Value> pull_back(Builder& b, std::span<const NodeId> tape, std::span<const Seed> seeds,
                             std::span<const NodeId> leaves, MissingRules& missing_rules,
                             TapeTrace* trace = nullptr);

// The tangents of a call's outputs by those of its operands, for calls that no table of rules has;
// nullopt: the rules decide.
using TangentOf = std::function<Value(NodeId, std::int64_t output)>;
using OwnTangents = std::function<std::optional<Gradients>(NodeId call, const TangentOf& tangent)>;

// Forward mode: the tangents of `outputs` (whose `value` is not read) from the tangents of the
// seeds. A rule that has only a VJP is transposed: the VJP is linear in the output's gradient, and
// reverse mode over it gives the Jacobian-vector product. Seeds may be any nodes; a seed's tangent
// is the given one, whatever its operands have.
std::vector<Value> push_forward(Builder& b, std::span<const NodeId> tape,
                                std::span<const Seed> seeds, std::span<const Seed> outputs,
                                MissingRules& missing_rules, TapeTrace* trace = nullptr,
                                const OwnTangents& own = {});

}  // namespace recut::autodiff
