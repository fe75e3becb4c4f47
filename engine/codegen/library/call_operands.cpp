#include "engine/codegen/library/call_operands.h"

#include <fmt/core.h>

#include <utility>

namespace recut::library {

using loop::Access;

CallOperands::CallOperands(const Graph& graph, const StorageModel& storages, NodeId id)
    : graph_(graph),
      storages_(storages),
      id_(id),
      types_of_([&graph](NodeId node) { return graph.pool().types_of(node); }),
      call_(graph.op(id), graph[id].arguments, types_of_) {}

std::optional<Operand> CallOperands::read(std::string_view parameter) {
  const auto address = loop::address_of(graph_, call_.node(parameter));
  if (!address || address->layouts.size() != 1 || element_count(address->shape()) == 0)
    return std::nullopt;
  return Operand{buffer(address->made, Access::read), address->layouts.front()};
}

Operand CallOperands::written(std::size_t output) {
  return {buffer({id_, output}, Access::written), made_layout(outputs()[output])};
}

bool CallOperands::is_wanted(std::size_t output) const {
  for (const StorageId s : storages_.owned(id_))
    if (storages_[s].output == output) return true;
  return false;
}

std::size_t CallOperands::buffer(const loop::Made& made, Access access) {
  for (std::size_t b = 0; b < kernel_.sources.size(); ++b)
    if (loop::Made{kernel_.sources[b].node, kernel_.sources[b].output} == made) return b;
  const TensorType& type = graph_[made.node].outputs[made.output];
  std::string name = graph_.node_name(made.node);
  if (graph_.op(made.node).multiple_outputs()) name += fmt::format(".{}", made.output);
  kernel_.buffers.push_back({std::move(name), type.dtype, element_count(type.shape), access});
  StorageId storage;
  for (const StorageId s : storages_.owned(made.node))
    if (storages_[s].output == made.output) storage = s;
  kernel_.sources.push_back({made.node, made.output, storage});
  return kernel_.buffers.size() - 1;
}

Kernel CallOperands::kernel(std::vector<Call> calls) && {
  kernel_.name = graph_.node_name(id_);
  kernel_.notes = {fmt::format("%{} = {}", kernel_.name, graph_.op(id_).name)};
  kernel_.calls = std::move(calls);
  return std::move(kernel_);
}

}  // namespace recut::library
