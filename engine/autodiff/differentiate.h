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
  // Results that get a tangent, by place. Not given: each that is real and depends differentiably
  // on a wanted input, but for updates of buffers (below). A result that is named here and depends
  // on nothing that is wanted gets a tangent that nothing reads.
  std::optional<std::vector<std::size_t>> differentiable;
  // Inputs that get a gradient, by name. Not given: the real ones that are marked as parameters,
  // or, where none is, every real input.
  std::optional<std::vector<std::string>> wanted;
};

// One step of the reverse sweep: the derivative row of a call, and what it became.
struct DerivativeStep {
  std::string_view rule;  // the operator whose row it is: "mm", "add.Tensor"
  NodeId call;            // of the forward graph, and of the joint one
  // Nodes of the joint graph that the row made, sums with other gradients included, in order; none
  // where it hands the gradient on as it is.
  std::vector<NodeId> made;
  std::string words;  // "%y = relu(%x) : …  =>  %le = …; gradient of %x: %where"
};

// The joint graph as AOTAutograd shapes it: the forward graph's inputs, a tangent for each
// differentiable result (`tangents_1`, …), results as they were, and one gradient for each input in
// order, invalid where it is not wanted or the results do not depend on it. A gradient's nodes
// carry the module path and sequence number of their forward partner; where the forward graph has
// no sequence numbers it gets them. Operators on the way that have no derivative rule are
// diagnostics, one each.
//
// An update of a buffer is a result of the type of an input that is no parameter: an interpolation
// with it (number * statistic + number * input, or lerp), or the running statistics of an operator
// of batch normalisation. It goes out as a result and gets no tangent.
//
// `steps`: where it is given, the sweep's steps are added to it, in the order in which they were
// taken: from the results back to the inputs.
Result<Graph> differentiate(const Graph& forward, const GradOptions& options = {},
                            std::vector<DerivativeStep>* steps = nullptr);

// The forward half of a joint graph: what its results need; inputs, names and results as they are,
// parameters where there was a gradient. `differentiable` are the results that the joint graph has
// a tangent for, in order: found by type, those that depend on parameters and are no updates of
// buffers first.
struct ForwardHalf {
  Graph graph;
  std::vector<std::size_t> differentiable;
};
Result<ForwardHalf> forward_half(const Graph& joint);

// Forward mode (dual numbers): the graph's results and gradients, then the tangent of each of them
// for tangents of the wanted inputs, which come in as inputs `NAME_tangent`; zeros for what does
// not depend on them. Outputs that are not real get none. Of a joint graph this gives
// Hessian-vector products, after Pearlmutter (1994).
struct Jvp {
  Graph graph;                 // every output is a result
  std::vector<NodeId> inputs;  // those with a tangent
  std::vector<NodeId> input_tangents;
  std::vector<std::size_t> primal;  // places in graph.results of the outputs that have a tangent …
  std::vector<std::size_t> tangents;  // … and of their tangents
};
Result<Jvp> jvp(const Graph& graph, const GradOptions& options = {});

// Whether the operator has a derivative rule, or a row that says why it has none.
enum class Differentiability : std::uint8_t { none, rule, constant };
Differentiability differentiability(Op op);
std::string_view reason_without_derivative(Op op);  // of a constant one

}  // namespace recut
