// Whether a pass changed a graph.
#pragma once

#include "engine/ir/graph.h"

namespace recut {

// Whether two graphs on one pool are the same: nodes in order under the same names, what comes in
// and what goes out.
bool same_graph(const Graph& a, const Graph& b);

}  // namespace recut
