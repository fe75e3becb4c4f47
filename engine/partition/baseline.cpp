#include "engine/partition/baseline.h"

#include <span>
#include <utility>
#include <vector>

#include "engine/cost/cost.h"
#include "engine/cost/device.h"
#include "engine/ir/aliases.h"
#include "engine/ir/collective.h"
#include "engine/ir/data_flow.h"
#include "engine/partition/liveness/liveness.h"
#include "engine/partition/problem/joint_problem.h"
#include "engine/partition/replay.h"

namespace recut {
namespace {

// Follows the instances of storages through the program; its values use the latest instance of a
// storage.
class ProgramReplay {
 public:
  ProgramReplay(const Graph& graph, const DeviceRates& rates)
      : graph_(graph), rates_(rates), storages_(graph), latest_(storages_.size(), 0) {}

  Replay run() && {
    const std::vector<bool> needed = live_nodes(graph_);
    for (const NodeId id : graph_.program())
      if (needed[graph_.position(id)] && !graph_.op(id).is(kInput)) run_step(id);
    const std::size_t boundary = forward_steps();
    for (std::size_t i = boundary; i < replay_.steps.size(); ++i)
      replay_.steps[i].phase = Phase::backward;
    for (StorageInstance& instance : replay_.instances) instance.kind = kind_of(instance, boundary);
    keep(graph_.results, InstanceClass::result);
    keep(graph_.gradients, InstanceClass::gradient);
    measure();
    return std::move(replay_);
  }

 private:
  void run_step(NodeId id) {
    const std::size_t step = replay_.steps.size();
    use(graph_[id].operands, step);
    use(operands_until_wait(graph_, id), step);
    for (const StorageId s : storages_.owned(id)) {
      latest_[s.index] = replay_.instances.size();
      replay_.instances.push_back({s, id, storages_[s].bytes, step, step});
    }
    if (const auto s = storages_.workspace(id))
      replay_.instances.push_back(
          {*s, id, storages_[*s].bytes, step, step, InstanceClass::forward_temporary, true});
    PlanStep made{id, Phase::forward};
    made.kernel = step;
    made.micros = node_micros(graph_, id, rates_);
    replay_.step_us += made.micros;
    replay_.steps.push_back(made);
  }

  void use(const std::vector<NodeId>& values, std::size_t step) {
    for (const NodeId value : values)
      for (const StorageId s : storages_.storages_of(value))
        replay_.instances[latest_[s.index]].last_use = step;
  }

  // Forward ends with the last step that a result needs and that doesn't run for the second time.
  std::size_t forward_steps() {
    const std::vector<bool> forward = forward_nodes(graph_);
    std::vector<bool> ran(graph_.order().size(), false);
    std::size_t steps = 0;
    for (std::size_t i = 0; i < replay_.steps.size(); ++i) {
      PlanStep& step = replay_.steps[i];
      const std::size_t at = graph_.position(step.node);
      step.again = ran[at];
      if (step.again) replay_.recompute_us += step.micros;
      if (step.again) replay_.recomputed.push_back(step.node);
      if (!ran[at] && forward[at]) steps = i + 1;
      ran[at] = true;
    }
    return steps;
  }

  static InstanceClass kind_of(const StorageInstance& instance, std::size_t boundary) {
    if (instance.birth >= boundary) return InstanceClass::backward_temporary;
    return instance.last_use >= boundary ? InstanceClass::saved : InstanceClass::forward_temporary;
  }

  // Outputs live to the end.
  void keep(std::span<const NodeId> outputs, InstanceClass kind) {
    for (const NodeId id : outputs) {
      if (!id.valid()) continue;
      for (const StorageId s : storages_.storages_of(id)) {
        StorageInstance& instance = replay_.instances[latest_[s.index]];
        if (instance.last_use != replay_.steps.size()) instance.kind = kind;
        instance.last_use = replay_.steps.size();
      }
    }
  }

  void measure() {
    std::vector<Lifetime> lives;
    for (const StorageInstance& one : replay_.instances)
      lives.push_back({one.bytes, one.birth, one.last_use});
    const Liveness live = measure_liveness(lives, replay_.steps.size());
    replay_.peak_bytes = live.peak_bytes;
    if (!replay_.steps.empty()) replay_.peak_step = live.peak_step;
    for (std::size_t i = 0; i < replay_.steps.size(); ++i)
      replay_.steps[i].live_bytes = live.live_bytes[i];
  }

  const Graph& graph_;
  const DeviceRates& rates_;
  const StorageModel storages_;
  std::vector<std::size_t> latest_;  // by storage, in the replay's instances
  Replay replay_;
};

}  // namespace

Replay replay_program(const Graph& graph, const DeviceRates& rates) {
  return ProgramReplay(graph, rates).run();
}

BaselineCost baseline_step(const Graph& graph, const DeviceRates& rates) {
  const Replay replay = replay_program(graph, rates);
  return {replay.peak_bytes, replay.step_us};
}

Result<BaselineCost> baseline_step(const Graph& graph, const StorageModel& storages,
                                   const FusionGroups& groups, const DeviceRates& rates) {
  const JointProblem joint(graph, storages, rates, {}, groups);
  const auto figures = replay(graph, storages, joint.plan(joint.problem().order), rates, groups);
  if (!figures) return figures.diagnostics();
  return BaselineCost{figures->peak_bytes, figures->step_us};
}

}  // namespace recut
