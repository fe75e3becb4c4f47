#include "engine/ir/about_node.h"

#include <fmt/core.h>

#include "engine/support/text.h"

namespace recut {

Diagnostic about_node(const Graph& graph, NodeId id, std::string_view message) {
  return error(fmt::format("node {}: {}", quote(graph.node_name(id)), message));
}

}  // namespace recut
