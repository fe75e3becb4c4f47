#include "engine/workspace/output_tensors.h"

#include <fmt/core.h>

#include <utility>

#include "engine/eval/inputs.h"
#include "engine/ir/graph_signature.h"

namespace recut {

std::vector<NamedTensor> output_tensors(const Graph& graph, std::span<const Tensor> outputs,
                                        std::deque<std::string>& storage) {
  std::vector<NamedTensor> tensors;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].exists()) continue;
    const std::string& bytes = storage.emplace_back(bytes_of(outputs[i]));
    const auto add = [&](std::string name) {
      tensors.push_back({std::move(name), outputs[i].dtype, outputs[i].shape, bytes});
    };
    add(fmt::format("out.{}", i));
    const NodeId input = mutated_input(graph, i);
    if (input.valid()) add("in." + graph.node_name(input));
  }
  return tensors;
}

}  // namespace recut
