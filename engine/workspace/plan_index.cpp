#include "engine/workspace/plan_index.h"

#include <algorithm>

#include "engine/ir/aliases.h"

namespace recut {

std::string_view name_of(Fate fate) {
  switch (fate) {
    case Fate::saved:
      return "saved";
    case Fate::recomputed:
      return "recomputed";
    case Fate::neither:
      return "neither";
  }
  return "";
}

PlanIndex::PlanIndex(const Graph& graph, const Plan& plan, const Replay& replay)
    : graph_(graph),
      replay_(replay),
      runs_(graph.order().size()),
      first_instance_(graph.order().size() + 1, 0) {
  find_runs();
  for (const NodeId id : plan.saved) runs_[graph.position(maker_of(graph, id))].fate = Fate::saved;
  for (const NodeId id : replay.recomputed) runs_[graph.position(id)].fate = Fate::recomputed;
  find_instances();
}

// Not those of inlined calls, nor what their kernels read of them.
void PlanIndex::find_runs() {
  for (Runs& runs : runs_) runs.first_backward_read = replay_.steps.size();
  std::vector<std::size_t> inlined_by(runs_.size(), replay_.steps.size());  // kernels
  for (std::size_t s = 0; s < replay_.steps.size(); ++s) {
    const Step& step = replay_.steps[s];
    if (step.inlined) {
      inlined_by[graph_.position(step.node)] = step.kernel;
    } else {
      Runs& runs = runs_[graph_.position(step.node)];
      if (runs.count == 0) runs.first = runs.last_forward_read = s;
      if (runs.count == 1) runs.again = s;
      ++runs.count;
    }
    for (const NodeId operand : graph_[step.node].operands) {
      const std::size_t source = graph_.position(maker_of(graph_, operand));
      if (inlined_by[source] == step.kernel) continue;
      Runs& read = runs_[source];
      if (step.phase == Phase::forward) {
        read.last_forward_read = s;
      } else {
        read.first_backward_read = std::min(read.first_backward_read, s);
      }
    }
  }
}

void PlanIndex::find_instances() {
  for (const StorageInstance& instance : replay_.instances)
    if (!instance.workspace) ++first_instance_[graph_.position(instance.owner) + 1];
  for (std::size_t i = 0; i < runs_.size(); ++i) first_instance_[i + 1] += first_instance_[i];
  instances_.resize(replay_.instances.size());
  std::vector<std::size_t> next(first_instance_.begin(), first_instance_.end() - 1);
  for (std::size_t i = 0; i < replay_.instances.size(); ++i) {
    const StorageInstance& instance = replay_.instances[i];
    if (instance.workspace) continue;  // no value
    const std::size_t at = graph_.position(instance.owner);
    instances_[next[at]++] = i;
    runs_[at].last_use = std::max(runs_[at].last_use, instance.last_use);
  }
}

const StorageInstance* PlanIndex::alive_before(NodeId source, std::size_t step) const {
  const std::size_t at = graph_.position(source);
  const StorageInstance* latest = nullptr;
  for (std::size_t i = first_instance_[at]; i < first_instance_[at + 1]; ++i) {
    const StorageInstance& instance = replay_.instances[instances_[i]];
    if (instance.birth < step && instance.last_use >= step) latest = &instance;
  }
  return latest;
}

}  // namespace recut
