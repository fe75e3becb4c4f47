// Equality of graphs before and after a pass.
#pragma once

#include "engine/ir/graph.h"

namespace recut {

// Tells whether two graphs on one pool are equal: nodes in order, their names, inputs and outputs.
// O(nodes), since equal nodes of a pool have one id.
bool same_graph(const Graph& a, const Graph& b);

}  // namespace recut
