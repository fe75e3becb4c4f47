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
  const auto view_map = loop::view_map_of(graph_, call_.node(parameter));
  if (!view_map || view_map->layouts.size() != 1 || element_count(view_map->shape()) == 0)
    return std::nullopt;
  return Operand{buffer(view_map->base, Access::read), view_map->layouts.front()};
}

Operand CallOperands::written(std::size_t output) {
  return {buffer({id_, output}, Access::write), output_layout(outputs()[output])};
}

bool CallOperands::is_requested(std::size_t output) const {
  for (const StorageId s : storages_.owned(id_))
    if (storages_[s].output == output) return true;
  return false;
}

std::size_t CallOperands::buffer(const loop::ValueRef& ref, Access access) {
  for (std::size_t b = 0; b < kernel_.sources.size(); ++b)
    if (loop::ValueRef{kernel_.sources[b].node, kernel_.sources[b].output} == ref) return b;
  const TensorType& type = graph_[ref.node].outputs[ref.output];
  std::string name = graph_.node_name(ref.node);
  if (graph_.op(ref.node).multiple_outputs()) name += fmt::format(".{}", ref.output);
  kernel_.buffers.push_back({std::move(name), type.dtype, element_count(type.shape), access});
  StorageId storage;
  for (const StorageId s : storages_.owned(ref.node))
    if (storages_[s].output == ref.output) storage = s;
  kernel_.sources.push_back({ref.node, ref.output, storage});
  return kernel_.buffers.size() - 1;
}

Kernel CallOperands::kernel(std::vector<Call> calls) && {
  kernel_.name = graph_.node_name(id_);
  kernel_.locations = {fmt::format("%{} = {}", kernel_.name, graph_.op(id_).name)};
  kernel_.calls = std::move(calls);
  return std::move(kernel_);
}

}  // namespace recut::library
