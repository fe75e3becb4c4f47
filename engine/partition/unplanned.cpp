#include "engine/partition/unplanned.h"

#include <vector>

#include "engine/partition/liveness/liveness.h"

namespace recut {
namespace {

std::vector<NodeId> goals_of(const Graph& graph) {
  std::vector<NodeId> goals = graph.results;
  for (const NodeId id : graph.gradients)
    if (id.valid()) goals.push_back(id);
  return goals;
}

// By position: what results and gradients need.
std::vector<bool> needed_nodes(const Graph& graph, const std::vector<NodeId>& goals) {
  std::vector<bool> needed(graph.order().size(), false);
  for (const NodeId id : goals) needed[graph.position(id)] = true;
  for (std::size_t p = needed.size(); p-- > 0;)
    if (needed[p])
      for (const NodeId operand : graph[graph.order()[p]].operands)
        needed[graph.position(operand)] = true;
  return needed;
}

}  // namespace

Unplanned unplanned_step(const Graph& graph, const DeviceRates& rates) {
  const StorageModel storages(graph);
  const std::vector<NodeId> goals = goals_of(graph);
  const std::vector<bool> needed = needed_nodes(graph, goals);
  Unplanned step;
  std::vector<Lifetime> lives;
  std::vector<std::size_t> instance(storages.size(), 0);  // the latest of each storage, in `lives`
  std::size_t steps = 0;
  for (const NodeId id : graph.program()) {
    if (!needed[graph.position(id)] || graph.op(id).is(kInput)) continue;
    step.step_us += node_micros(graph, id, rates);
    for (const NodeId operand : graph[id].operands)
      for (const StorageId s : storages.behind(operand)) lives[instance[s.index]].last_use = steps;
    for (const StorageId s : storages.owned(id)) {
      instance[s.index] = lives.size();
      lives.push_back({storages[s].bytes, steps, steps});
    }
    ++steps;
  }
  for (const NodeId id : goals)
    for (const StorageId s : storages.behind(id)) lives[instance[s.index]].last_use = steps;
  step.peak_bytes = measure_liveness(lives, steps).peak_bytes;
  return step;
}

}  // namespace recut
