#include "engine/ir/copy.h"

namespace recut {
namespace {

std::shared_ptr<const Measurements> measurements_of(const Graph& graph,
                                                    const std::vector<NodeId>& images) {
  if (graph.measured == nullptr) return nullptr;
  auto copied = std::make_shared<Measurements>();
  copied->device = graph.measured->device;
  copied->granularity = graph.measured->granularity;
  for (const NodeId id : graph.order())
    if (const Measurement* known = graph.measurement(id))
      copied->add(images[graph.position(id)], *known);
  return copied;
}

}  // namespace

Graph copy_apart(const Graph& graph) {
  Graph copy;
  copy.name = graph.name;
  copy.device = graph.device;
  std::vector<NodeId> images(graph.order().size());
  const auto image = [&](NodeId id) { return id.valid() ? images[graph.position(id)] : id; };
  for (const NodeId id : graph.order())
    images[graph.position(id)] = copy_node(graph, id, copy, graph.origin(id), image);
  for (const NodeId id : graph.results) copy.results.push_back(image(id));
  for (const NodeId id : graph.gradients) copy.gradients.push_back(image(id));
  for (const auto& [alias, id] : graph.aliases()) copy.add_alias(alias, image(id));
  copy.measured = measurements_of(graph, images);
  return copy;
}

}  // namespace recut
