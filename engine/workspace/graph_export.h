// Exports a graph as JSON and for Graphviz.
#pragma once

#include <string>

#include "engine/ir/graph.h"

namespace recut {

// {"name", "device", "nodes": [{"name", "op", "arguments", "types", "operands", "module",
// "seq_nr", "recompute", "ac_graph_id"}], "results", "gradients"}: operands, results and gradients
// by name (null where a gradient is absent), everything else as the text form writes it. "regions"
// has the nested graphs that calls name, by name and in the same form; it is left out where there
// are none.
std::string graph_json(const Graph& graph);

// For Graphviz' dot, left to right: a box for each node, a cluster for each module, edge widths by
// bytes.
std::string graph_dot(const Graph& graph);

}  // namespace recut
