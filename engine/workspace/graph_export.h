// A graph for other programs: JSON and Graphviz.
#pragma once

#include <string>

#include "engine/ir/graph.h"

namespace recut {

// {"name", "device", "nodes": [{"name", "op", "arguments", "types", "operands", "module",
// "seq_nr"}], "results", "gradients"}: operands, results and gradients by name (null where a
// gradient is absent), the rest as the text form writes it.
std::string graph_json(const Graph& graph);

// Left to right for Graphviz' dot: one box a node, one cluster a module, edges as thick as their
// bytes.
std::string graph_dot(const Graph& graph);

}  // namespace recut
