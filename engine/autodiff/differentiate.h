// From a forward graph to the joint graph of a training step, and forward mode.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut {

struct GradOptions {
  // Indices of the results that get a tangent. Default: every real result that depends on an input
  // that requires a gradient, except updates of buffers (below). A listed result that depends on no
  // such input gets a tangent that nothing reads.
  std::optional<std::vector<std::size_t>> differentiable;
  // Names of the inputs that get a gradient. Default: the real inputs marked as parameters; if no
  // input is a parameter, every real input.
  std::optional<std::vector<std::string>> requires_grad;
  // The level of forward mode's tangents (graph_signature.h). Default: above all that the graph has.
  std::optional<int> level;
};

// One step of the reverse sweep: the call, and the nodes its derivative rule added.
struct DerivativeStep {
  std::string_view rule;  // the operator that the rule belongs to: "mm", "add.Tensor"
  NodeId call;            // of the forward graph, and of the joint one
  // Nodes of the joint graph that the rule added, in order, including sums with other gradients.
  // Empty if the rule passes the gradient on unchanged.
  std::vector<NodeId> new_nodes;
  std::string text;  // "%y = relu(%x) : …  =>  %le = …; gradient of %x: %where"
};

// Builds the joint graph in the form of AOTAutograd: the forward graph's inputs, one tangent for
// each differentiable result (`tangents_1`, …), the results unchanged, and one gradient for each
// input in order. A gradient is invalid if the input does not require one or the results do not
// depend on it. Backward nodes carry the module path and sequence number of their forward partner;
// a forward graph without sequence numbers gets them. Each operator that a derivative must pass and
// that has no derivative rule is one diagnostic.
//
// The graph's signature tells which results are new values of inputs (graph_signature.h); they stay
// results and get no tangent. Without one, an update of a buffer is a result with the type of an
// input that is no parameter: an interpolation with it (number * statistic + number * input, or
// lerp), or the running statistics of a batch normalisation.
//
// If `steps` is given, the steps of the sweep are appended to it, from the results back to the
// inputs.
Result<Graph> differentiate(const Graph& forward, const GradOptions& options = {},
                            std::vector<DerivativeStep>* steps = nullptr);

// The forward graph of a joint graph: the nodes that its results need, with the same inputs, names
// and results. `differentiable` lists the results that have a tangent in the joint graph, in order.
// The signature tells them, or they are matched by type: results that depend on parameters and
// update no buffer are preferred.
struct ForwardGraph {
  Graph graph;
  std::vector<std::size_t> differentiable;
};
Result<ForwardGraph> extract_forward_graph(const Graph& joint);

// Forward mode (dual numbers): the graph's results and gradients, followed by the tangent of each.
// Tangents of the inputs come in as further inputs `NAME_tangent`. The tangent of an output that
// depends on none of them is zero; an output that is not real has no tangent. Applied to a joint
// graph this gives Hessian-vector products (Pearlmutter 1994), and applied again it gives tangents
// of a higher level. The graph's signature tells which result is whose tangent. Fails for a level
// that the graph has, or that lies below one.
struct Jvp {
  Graph graph;                 // every output is a result
  std::vector<NodeId> inputs;  // inputs with a tangent
  std::vector<NodeId> input_tangents;
  std::vector<std::size_t> primal;    // indices in graph.results of the outputs with a tangent …
  std::vector<std::size_t> tangents;  // … and of their tangents
};
Result<Jvp> jvp(const Graph& graph, const GradOptions& options = {});

// Tells whether the operator has a derivative rule, or an entry that says why it has none.
enum class Differentiability : std::uint8_t { none, rule, constant };
Differentiability differentiability(Op op);
std::string_view reason_without_derivative(Op op);  // of a constant one

}  // namespace recut
