// The verifier: the invariants of every graph. Each stage of each pass is checked against them.
//
//   1  Every operand stands before its user, and in the same graph.
//   2  Names are not empty, and no two nodes share one.
//   3  Every call's arguments fit its operator's schema: one a parameter, of the parameter's kind.
//   4  Recorded shapes and dtypes equal the result of the operator's shape rule.
//   5  Every type is sound: no negative dimension, one stride a dimension, at most kMaxBytes.
//   6  Placeholders and constants are the graph's inputs, and calls are not.
//   7  Results and gradients are nodes of the graph, and each is a single tensor.
//   8  There are as many gradients as placeholders that are not tangents, or none at all.
//   9  A gradient has the shape of the placeholder that it belongs to.
//  10  No result depends on a tangent.
//  11  Equal nodes are one: no two nodes have operator, arguments and types in common.
//  12  A region that a call names is sound, and agrees with the call (region_call.h).
//  13  The signature names results and inputs that are there and fit (graph_signature.h).
#pragma once

#include <string>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

struct Failure {
  NodeId node;        // invalid: about the graph as a whole
  int invariant = 0;  // a number of the list above
  std::string message;
};
using Failures = std::vector<Failure>;

// All failures, in program order; empty for a sound graph.
Failures verify(const Graph& graph);

// Incremental form for a graph derived from a verified one on the same pool. Nodes are immutable,
// so a node that both graphs contain is not checked against schema and shape rule again.
Failures verify(const Graph& graph, const Graph& sound);

}  // namespace recut
