// Diagnostics about a node, which begin with its name.
#pragma once

#include <string_view>

#include "engine/ir/graph.h"

namespace recut {

Diagnostic node_diagnostic(const Graph& graph, NodeId id, std::string_view message);

}  // namespace recut
