#include "engine/partition/baseline.h"

#include <vector>

#include "engine/cost/cost.h"
#include "engine/cost/device.h"
#include "engine/ir/data_flow.h"
#include "engine/partition/liveness/liveness.h"
#include "engine/partition/problem/joint_problem.h"
#include "engine/partition/replay.h"

namespace recut {
BaselineCost baseline_step(const Graph& graph, const DeviceRates& rates) {
  const StorageModel storages(graph);
  const std::vector<NodeId> goals = graph_outputs(graph);
  const std::vector<bool> needed = needed_nodes(graph, goals);
  BaselineCost step;
  std::vector<Lifetime> lives;
  std::vector<std::size_t> instance(storages.size(), 0);  // by storage: its latest, in `lives`
  std::size_t steps = 0;
  for (const NodeId id : graph.program()) {
    if (!needed[graph.position(id)] || graph.op(id).is(kInput)) continue;
    step.step_us += node_micros(graph, id, rates);
    for (const NodeId operand : graph[id].operands)
      for (const StorageId s : storages.storages_of(operand))
        lives[instance[s.index]].last_use = steps;
    for (const StorageId s : storages.owned(id)) {
      instance[s.index] = lives.size();
      lives.push_back({storages[s].bytes, steps, steps});
    }
    if (const auto workspace = storages.workspace(id))
      lives.push_back({storages[*workspace].bytes, steps, steps});
    ++steps;
  }
  for (const NodeId id : goals)
    for (const StorageId s : storages.storages_of(id)) lives[instance[s.index]].last_use = steps;
  step.peak_bytes = measure_liveness(lives, steps).peak_bytes;
  return step;
}

Result<BaselineCost> baseline_step(const Graph& graph, const StorageModel& storages,
                                   const FusionGroups& groups, const DeviceRates& rates) {
  const JointProblem joint(graph, storages, rates, {}, groups);
  const auto figures = replay(graph, storages, joint.plan(joint.problem().order), rates, groups);
  if (!figures) return figures.diagnostics();
  return BaselineCost{figures->peak_bytes, figures->step_us};
}

}  // namespace recut
