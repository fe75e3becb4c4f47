#include "engine/eval/updated_buffers.h"

#include <vector>

#include "engine/eval/inputs.h"
#include "engine/ir/data_flow.h"

namespace recut {
std::optional<NodeId> updated_buffer(const Graph& graph, const Inputs& inputs, NodeId output,
                                     const Tensor& expected) {
  const std::vector<bool> needed = needed_nodes(graph, std::vector<NodeId>{output});
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
