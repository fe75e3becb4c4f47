#include "engine/partition/torch_partition.h"

#include "engine/partition/plan_from_saved.h"

namespace recut {

Plan plan_of(const Graph& graph, const TorchPartition& partition) {
  std::vector<NodeId> saved;
  for (const std::string& name : partition.saved)
    if (const NodeId id = graph.find(name); id.valid()) saved.push_back(id);
  return plan_from_saved(graph, saved);
}

}  // namespace recut
