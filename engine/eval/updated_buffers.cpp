#include "engine/eval/updated_buffers.h"

#include <vector>

#include "engine/eval/inputs.h"

namespace recut {
namespace {

// By position: what `output` is computed from.
std::vector<bool> ancestors(const Graph& graph, NodeId output) {
  std::vector<bool> needed(graph.order().size(), false);
  needed[graph.position(output)] = true;
  for (std::size_t p = graph.position(output) + 1; p-- > 0;)
    if (needed[p])
      for (const NodeId operand : graph[graph.order()[p]].operands)
        needed[graph.position(operand)] = true;
  return needed;
}

}  // namespace

std::optional<NodeId> updated_buffer(const Graph& graph, const Inputs& inputs, NodeId output,
                                     const Tensor& expected) {
  const std::vector<bool> needed = ancestors(graph, output);
  for (const NodeId id : graph.inputs()) {
    const bool candidate =
        id != output && needed[graph.position(id)] && graph.input_kind(id) == InputKind::input;
    const auto given = inputs.find(id);
    if (!candidate || given == inputs.end()) continue;
    const bool same_type =
        given->second.dtype == expected.dtype && given->second.shape == expected.shape;
    if (same_type && bytes_of(given->second) == bytes_of(expected)) return id;
  }
  return std::nullopt;
}

}  // namespace recut
