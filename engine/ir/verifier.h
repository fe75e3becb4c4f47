// The verifier: what every graph promises. Each stage of each pass is checked against this list.
//
//   1  Every operand stands before its user, and in the same graph.
//   2  Names are not empty, and no two nodes share one.
//   3  Every call's arguments fit its operator's schema: one a parameter, each of the parameter's
//   kind. 4  Recorded shapes and dtypes are those that the operator's shape rule gives. 5  Every
//   type is sound: dimensions not negative, as many strides as dimensions, no more than kMaxBytes.
//   6  Placeholders and constants are the graph's inputs, and calls are not.
//   7  Results and gradients are nodes of the graph with a tensor to give.
//   8  There are as many gradients as placeholders that are no tangents, or none at all.
//   9  A gradient has the shape of the placeholder that it belongs to.
//  10  No result depends on a tangent.
//  11  Equal nodes are one: no two nodes of the graph have operator, arguments and types in common.
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

// The same of a graph that was made from a sound one on its pool: a node that both have (nodes
// never change) isn't held against its operator's schema and shape rule once more.
Failures verify(const Graph& graph, const Graph& sound);

}  // namespace recut
