#include "engine/ir/node_diagnostic.h"

#include <fmt/core.h>

#include "engine/support/text.h"

namespace recut {

Diagnostic node_diagnostic(const Graph& graph, NodeId id, std::string_view message) {
  return error(fmt::format("node {}: {}", quote(graph.node_name(id)), message));
}

}  // namespace recut
