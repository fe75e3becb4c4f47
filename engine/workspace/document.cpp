#include "engine/workspace/document.h"

#include <algorithm>

namespace recut {

const Graph& Document::reference_graph() const {
  const std::size_t step_passes = (differentiated ? 1 : 0) + (loss ? 1 : 0);
  return step_passes == 0 ? passes.input : passes.passes[step_passes - 1].graph;
}

std::vector<std::string> default_passes_for(const GraphFile& file) {
  return file.key == "joint_after_passes" ? std::vector<std::string>() : default_passes();
}

Result<Done> check_joint(const Document& document, std::string_view file_name) {
  const Graph& graph = document.graph();
  const auto is_tangent = [&](NodeId id) { return graph.input_kind(id) == InputKind::tangent; };
  const auto inputs = graph.inputs();
  if (!graph.gradients.empty() || std::any_of(inputs.begin(), inputs.end(), is_tangent))
    return Done{};
  return Diagnostic{
      "a forward graph alone: there is no backward to keep values for. Planning needs a joint "
      "graph; `recut grad` makes one",
      std::string(file_name), 0, 0};
}

}  // namespace recut
