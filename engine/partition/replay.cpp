#include "engine/partition/replay.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/cost/device.h"
#include "engine/fusion/kernel_cost.h"
#include "engine/fusion/kernel_runs.h"
#include "engine/ir/aliases.h"
#include "engine/ir/collective.h"
#include "engine/partition/liveness/liveness.h"
#include "engine/support/units.h"

namespace recut {
namespace {

constexpr std::size_t kMaxDiagnostics = 20;

std::string_view name_of(Phase phase) { return phase == Phase::forward ? "forward" : "backward"; }

// Checks that every step finds its operands; collects up to kMaxDiagnostics diagnostics.
class AvailabilityCheck {
 public:
  AvailabilityCheck(const Graph& graph, const Plan& plan) : graph_(graph), plan_(plan) {}

  Diagnostics run() {
    if (!names_known()) return std::move(faults_);
    available_.assign(graph_.order().size(), false);
    drawn_.assign(graph_.order().size(), false);
    make_inputs_available(/*tangents=*/false);
    run_steps(plan_.forward, Phase::forward);
    for (const NodeId id : plan_.saved) need(id, "is saved but not computed in forward");
    for (const NodeId id : graph_.results)
      if (id.valid()) need(id, "is a result but not computed in forward");

    available_.assign(graph_.order().size(), false);
    for (const NodeId id : plan_.saved) available_[graph_.position(id)] = true;
    make_inputs_available(/*tangents=*/true);
    run_steps(plan_.backward, Phase::backward);
    for (const NodeId id : graph_.gradients)
      if (id.valid()) need(id, "is a gradient but neither saved nor computed in backward");
    return std::move(faults_);
  }

 private:
  bool names_known() {
    const auto check = [&](const std::vector<NodeId>& list, const char* where, bool calls_only) {
      for (const NodeId id : list)
        if (!id.valid() || !graph_.contains(id))
          report(fmt::format("a node in '{}' of the plan is not one of the graph", where));
        else if (calls_only && graph_.op(id).is(kInput))
          report(fmt::format("'{}' in '{}' of the plan is an input, expected a call",
                             graph_.node_name(id), where));
    };
    check(plan_.forward, "forward", true);
    check(plan_.saved, "saved", false);
    check(plan_.backward, "backward", true);
    return faults_.empty();
  }

  void make_inputs_available(bool tangents) {
    for (const NodeId id : graph_.order()) {
      if (!graph_.op(id).is(kInput)) continue;
      const bool tangent =
          graph_[id].op == Op::placeholder && graph_.input_kind(id) == InputKind::tangent;
      if (!tangent || tangents) available_[graph_.position(id)] = true;
    }
  }

  void run_steps(const std::vector<NodeId>& steps, Phase phase) {
    for (const NodeId id : steps) {
      for (const NodeId operand : graph_[id].operands)
        if (!available_[graph_.position(operand)])
          report(fmt::format("{} step '{}': its operand '{}' is not available", name_of(phase),
                             graph_.node_name(id), graph_.node_name(operand)));
      if (draws_anew(graph_.op(id)) && drawn_[graph_.position(id)])
        report(fmt::format("{} step '{}': {} draws anew each time and may run only once",
                           name_of(phase), graph_.node_name(id), graph_.op(id).name));
      drawn_[graph_.position(id)] = true;
      available_[graph_.position(id)] = true;
    }
  }

  void need(NodeId id, const char* otherwise) {
    if (!available_[graph_.position(id)])
      report(fmt::format("'{}' {}", graph_.node_name(id), otherwise));
  }

  void report(std::string message) {
    if (faults_.size() < kMaxDiagnostics) faults_.push_back(error(std::move(message)));
  }

  const Graph& graph_;
  const Plan& plan_;
  std::vector<bool> available_, drawn_;  // by position
  Diagnostics faults_;
};

// Follows storage instances through the steps of a plan that is known to run. Each value maps to
// the latest instances of the storages it uses (its backing): a use extends their lifetimes, a
// second run of the call replaces them, and the boundary frees unsaved ones.
class LifetimeTracker {
 public:
  LifetimeTracker(const Graph& graph, const StorageModel& storages, const FusionGroups& groups,
                  const std::vector<KernelRun>& kernels, const Plan& plan, Replay& replay)
      : graph_(graph),
        storages_(storages),
        groups_(groups),
        kernels_(kernels),
        plan_(plan),
        replay_(replay) {
    backing_.resize(graph.order().size());
    ran_.assign(graph.order().size(), false);
    inside_.assign(graph.order().size(), SIZE_MAX);
    end_ = plan.forward.size() + plan.backward.size();
  }

  void run() {
    replay_.steps.reserve(end_);
    for (const NodeId id : plan_.forward) run_step(id, Phase::forward);
    cross_boundary();
    for (const NodeId id : plan_.backward) run_step(id, Phase::backward);
    for (const NodeId id : graph_.gradients)
      if (id.valid()) keep(id, end_, InstanceClass::gradient);
    for (StorageInstance& instance : replay_.instances) classify(instance);
  }

 private:
  using Instances = std::vector<std::uint32_t>;  // indices into replay_.instances

  Instances& backing(NodeId id) { return backing_[graph_.position(id)]; }

  void run_step(NodeId id, Phase phase) {
    const std::size_t step = replay_.steps.size();
    for (const NodeId operand : graph_[id].operands)
      if (!stays_inside(operand, step)) use(operand, step);
    for (const NodeId operand : operands_until_wait(graph_, id)) use(operand, step);
    if (is_inlined(id, step)) {
      inside_[graph_.position(id)] = kernels_[step].last;
      replay_.steps.push_back({id, phase, false, true, kernels_[step].last, 0, 0});
      return;
    }
    const bool again = ran_[graph_.position(id)];
    ran_[graph_.position(id)] = true;
    backing(id) = instances_of(id, step, phase, again);
    if (const auto workspace = storages_.workspace(id)) add_workspace(*workspace, step, phase);
    replay_.steps.push_back({id, phase, again, false, kernels_[step].last, 0, 0});
    if (again) replay_.recomputed.push_back(id);
  }

  // A call that its kernel computes again for itself, or a view of such a call's value.
  bool is_inlined(NodeId id, std::size_t step) const {
    if (defining_node(graph_, id) != id) return stays_inside(graph_[id].operands.front(), step);
    return groups_.inlines(step_at(kernels_[step].last), id);
  }
  // The running kernel computed the value for itself alone.
  bool stays_inside(NodeId value, std::size_t step) const {
    return step < end_ && inside_[graph_.position(value)] == kernels_[step].last;
  }
  NodeId step_at(std::size_t step) const {
    const std::size_t forward = plan_.forward.size();
    return step < forward ? plan_.forward[step] : plan_.backward[step - forward];
  }

  Instances instances_of(NodeId id, std::size_t step, Phase phase, bool again) {
    const Node& node = graph_[id];
    const std::span<const StorageId> owned = storages_.owned(id);
    // A view shares its operand's instances. A value without elements has none.
    if (owned.empty() && !storages_.storages_of(id).empty()) return inherited(id, node);
    Instances made;
    for (const StorageId storage : owned) {
      if (groups_.inner(storage)) continue;
      made.push_back(static_cast<std::uint32_t>(replay_.instances.size()));
      const InstanceClass kind = again                     ? InstanceClass::recomputed
                                 : phase == Phase::forward ? InstanceClass::forward_temporary
                                                           : InstanceClass::backward_temporary;
      replay_.instances.push_back(
          {storage, id, storages_[storage].bytes, kernels_[step].first, kernels_[step].last, kind});
      returned_.push_back(std::nullopt);
    }
    return made;
  }

  void add_workspace(StorageId workspace, std::size_t step, Phase phase) {
    const StorageModel::Storage& storage = storages_[workspace];
    replay_.instances.push_back({workspace, storage.owner, storage.bytes, kernels_[step].first,
                                 kernels_[step].last,
                                 phase == Phase::forward ? InstanceClass::forward_temporary
                                                         : InstanceClass::backward_temporary,
                                 true});
    returned_.push_back(std::nullopt);
  }

  Instances inherited(NodeId id, const Node& node) {
    const NodeId source = node.operands.front();
    if (node.op != Op::getitem || graph_.op(source).is(kView)) return backing(source);
    const std::span<const StorageId> picked = storages_.storages_of(id);
    Instances kept;
    for (const std::uint32_t i : backing(source))
      if (std::find(picked.begin(), picked.end(), replay_.instances[i].storage) != picked.end())
        kept.push_back(i);
    return kept;
  }

  void use(NodeId id, std::size_t step) {
    const std::size_t until = step < end_ ? kernels_[step].last : step;
    for (const std::uint32_t i : backing(id))
      replay_.instances[i].last_use = std::max(replay_.instances[i].last_use, until);
  }

  void keep(NodeId id, std::size_t step, InstanceClass why) {
    use(id, step);
    for (const std::uint32_t i : backing(id))
      if (!returned_[i]) returned_[i] = why;
  }

  void cross_boundary() {
    for (const NodeId id : graph_.results)
      if (id.valid()) keep(id, end_, InstanceClass::result);
    std::vector<bool> kept(backing_.size(), false);
    for (const NodeId id : plan_.saved) {
      use(id, plan_.forward.size());
      for (const std::uint32_t i : backing(id)) replay_.instances[i].kept = true;
      kept[graph_.position(id)] = true;
    }
    boundary_ = replay_.instances.size();
    for (std::size_t p = 0; p < backing_.size(); ++p)
      if (!kept[p]) backing_[p].clear();
  }

  void classify(StorageInstance& instance) {
    const auto i = static_cast<std::size_t>(&instance - replay_.instances.data());
    if (returned_[i])
      instance.kind = *returned_[i];
    else if (i < boundary_ && instance.last_use >= plan_.forward.size())
      instance.kind = InstanceClass::saved;
  }

  const Graph& graph_;
  const StorageModel& storages_;
  const FusionGroups& groups_;
  const std::vector<KernelRun>& kernels_;  // by step
  const Plan& plan_;
  Replay& replay_;
  std::vector<Instances> backing_;                      // by position of the value
  std::vector<std::optional<InstanceClass>> returned_;  // by instance
  std::vector<bool> ran_;                               // by position
  std::vector<std::size_t> inside_;                     // by position: the end of the kernel
  std::size_t end_ = 0, boundary_ = 0;
};

// Sets the time of each step: a kernel's whole time goes to its last call, a view takes none.
void set_step_times(const Graph& graph, const StorageModel& storages, const FusionGroups& groups,
                    const DeviceRates& rates, const std::vector<KernelRun>& kernels,
                    Replay& replay) {
  for (std::size_t s = 0; s < kernels.size(); ++s) {
    PlanStep& step = replay.steps[s];
    const std::int32_t group = groups.group(step.node);
    const bool alone = group == FusionGroups::kAlone;
    if (defining_node(graph, step.node) != step.node || kernels[s].last != s) continue;
    const auto calls = alone ? std::span<const NodeId>(&step.node, 1) : groups.calls(group);
    step.micros = kernel_micros(graph, storages, groups, calls, rates);
    replay.step_us += step.micros;
    if (step.again) replay.recompute_us += step.micros;
  }
}

}  // namespace

std::string_view name_of(InstanceClass kind) {
  switch (kind) {
    case InstanceClass::result:
      return "result";
    case InstanceClass::gradient:
      return "gradient";
    case InstanceClass::saved:
      return "saved";
    case InstanceClass::forward_temporary:
      return "forward temporary";
    case InstanceClass::recomputed:
      return "recomputed";
    case InstanceClass::backward_temporary:
      return "backward temporary";
  }
  return "";
}

Result<Replay> replay(const Graph& graph, const Plan& plan, const DeviceRates& rates) {
  return replay(graph, StorageModel(graph), plan, rates);
}

Result<Replay> replay(const Graph& graph, const StorageModel& storages, const Plan& plan,
                      const DeviceRates& rates, const FusionGroups& groups) {
  if (auto total = check_total_bytes(graph); !total) return total.diagnostics();
  if (Diagnostics faults = AvailabilityCheck(graph, plan).run(); !faults.empty()) return faults;

  const auto kernels = kernel_runs(graph, storages, groups, plan);
  if (!kernels) return kernels.diagnostics();

  Replay result;
  LifetimeTracker(graph, storages, groups, *kernels, plan, result).run();
  std::vector<Lifetime> lifetimes;
  lifetimes.reserve(result.instances.size());
  std::int64_t allocated = 0;
  for (const StorageInstance& i : result.instances) {
    lifetimes.push_back({i.bytes, i.birth, i.last_use});
    if (__builtin_add_overflow(allocated, i.bytes, &allocated))
      return error(fmt::format("the plan allocates more than {}", format_bytes(INT64_MAX)));
  }
  const Liveness liveness = measure_liveness(lifetimes, result.steps.size());

  result.peak_bytes = liveness.peak_bytes;
  if (!result.steps.empty()) result.peak_step = liveness.peak_step;
  result.saved_bytes = storages.storage_bytes_of(plan.saved);
  for (std::size_t s = 0; s < result.steps.size(); ++s)
    result.steps[s].live_bytes = liveness.live_bytes[s];
  set_step_times(graph, storages, groups, rates, *kernels, result);
  return result;
}

}  // namespace recut
