#include "engine/ir/copy.h"

namespace recut {
namespace {

std::shared_ptr<const Measurements> measurements_of(const Graph& graph,
                                                    const std::vector<NodeId>& mapping) {
  if (graph.measured == nullptr) return nullptr;
  auto copied = std::make_shared<Measurements>();
  copied->device = graph.measured->device;
  copied->granularity = graph.measured->granularity;
  for (const NodeId id : graph.order())
    if (const Measurement* known = graph.measurement(id))
      copied->add(mapping[graph.position(id)], *known);
  return copied;
}

}  // namespace

Graph deep_copy(const Graph& graph) {
  Graph copy;
  copy.name = graph.name;
  copy.device = graph.device;
  copy.regions = graph.regions;
  copy.signature = graph.signature;
  std::vector<NodeId> mapping(graph.order().size());
  const auto mapped = [&](NodeId id) { return id.valid() ? mapping[graph.position(id)] : id; };
  for (const NodeId id : graph.order())
    mapping[graph.position(id)] = copy_node(graph, id, copy, graph.origin(id), mapped);
  for (const NodeId id : graph.results) copy.results.push_back(mapped(id));
  for (const NodeId id : graph.gradients) copy.gradients.push_back(mapped(id));
  for (const auto& [alias, id] : graph.aliases()) copy.add_alias(alias, mapped(id));
  copy.measured = measurements_of(graph, mapping);
  return copy;
}

}  // namespace recut
