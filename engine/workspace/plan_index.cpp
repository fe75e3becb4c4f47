#include "engine/workspace/plan_index.h"

#include <algorithm>

#include "engine/ir/aliases.h"

namespace recut {

std::string_view name_of(RematDecision decision) {
  switch (decision) {
    case RematDecision::saved:
      return "saved";
    case RematDecision::recomputed:
      return "recomputed";
    case RematDecision::neither:
      return "neither";
  }
  return "";
}

PlanIndex::PlanIndex(const Graph& graph, const Plan& plan, const Replay& replay)
    : graph_(graph),
      plan_(plan),
      replay_(replay),
      inlined_by_(graph.order().size(), replay.steps.size()),
      runs_(graph.order().size()),
      first_instance_(graph.order().size() + 1, 0) {
  for (Runs& runs : runs_) runs.first_backward_read = replay_.steps.size();
}

bool PlanIndex::read(std::size_t count) {
  switch (reading_) {
    case Reading::runs:
      for (; count > 0 && next_ < replay_.steps.size(); --count) read_run(next_++);
      if (next_ == replay_.steps.size()) reading_ = Reading::decisions;
      return true;
    case Reading::decisions:
      inlined_by_ = {};
      read_decisions();
      count_instances();
      next_ = 0;
      reading_ = Reading::instances;
      return true;
    case Reading::instances:
      for (; count > 0 && next_ < replay_.instances.size(); --count) place_instance(next_++);
      if (next_ < replay_.instances.size()) return true;
      next_index_ = {};
      reading_ = Reading::none;
      break;
    case Reading::none:
      break;
  }
  return false;
}

// Indexes one run. An inlined call is no run, and its kernel's reads of it don't count.
void PlanIndex::read_run(std::size_t at) {
  const PlanStep& step = replay_.steps[at];
  if (step.inlined) {
    inlined_by_[graph_.position(step.node)] = step.kernel;
  } else {
    Runs& runs = runs_[graph_.position(step.node)];
    if (runs.count == 0) runs.first = runs.last_forward_read = at;
    if (runs.count == 1) runs.again = at;
    ++runs.count;
  }
  for (const NodeId operand : graph_[step.node].operands) {
    const std::size_t source = graph_.position(defining_node(graph_, operand));
    if (inlined_by_[source] == step.kernel) continue;
    Runs& read = runs_[source];
    if (step.phase == Phase::forward) {
      read.last_forward_read = at;
    } else {
      read.first_backward_read = std::min(read.first_backward_read, at);
    }
  }
}

void PlanIndex::read_decisions() {
  for (const NodeId id : plan_.saved)
    runs_[graph_.position(defining_node(graph_, id))].decision = RematDecision::saved;
  for (const NodeId id : replay_.recomputed)
    runs_[graph_.position(id)].decision = RematDecision::recomputed;
}

void PlanIndex::count_instances() {
  for (const StorageInstance& instance : replay_.instances)
    if (!instance.workspace) ++first_instance_[graph_.position(instance.owner) + 1];
  for (std::size_t i = 0; i < runs_.size(); ++i) first_instance_[i + 1] += first_instance_[i];
  instances_.resize(replay_.instances.size());
  next_index_.assign(first_instance_.begin(), first_instance_.end() - 1);
}

void PlanIndex::place_instance(std::size_t i) {
  const StorageInstance& instance = replay_.instances[i];
  if (instance.workspace) return;  // not a value
  const std::size_t at = graph_.position(instance.owner);
  instances_[next_index_[at]++] = i;
  runs_[at].last_use = std::max(runs_[at].last_use, instance.last_use);
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
