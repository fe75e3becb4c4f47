#include "engine/workspace/reasons.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/partition/cost.h"

namespace recut {
namespace {

Replay replayed(const Graph& graph, const StorageModel& storages, const Planned& planned) {
  auto replay_of_plan = replay(graph, storages, planned.plan, planned.costs.device.rates,
                               planned.costs.groups(graph, storages));
  RECUT_CHECK(replay_of_plan.ok(), "a plan that was reported doesn't replay");
  return std::move(*replay_of_plan);
}

}  // namespace

// Where a call runs in the plan.
struct Reasons::Runs {
  std::size_t first = 0, last_use = 0;
  std::size_t count = 0;
  std::optional<std::size_t> again;  // the first run beyond the first
};

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

Reasons::Reasons(const Document& document, const PlanningRequest& request, const Planned& planned)
    : document_(document),
      graph_(document.graph()),
      request_(request),
      planned_(planned),
      storages_(graph_),
      replay_(replayed(graph_, storages_, planned)),
      rules_(graph_) {}

Reasons::Runs Reasons::runs_of(NodeId source) const {
  Runs runs;
  for (std::size_t step = 0; step < replay_.steps.size(); ++step) {
    if (replay_.steps[step].node != source) continue;
    if (runs.count == 0) runs.first = step;
    if (runs.count == 1) runs.again = step;
    ++runs.count;
  }
  for (const StorageInstance& instance : replay_.instances)
    if (instance.owner == source) runs.last_use = std::max(runs.last_use, instance.last_use);
  return runs;
}

// The latest instance of a call's storage that is there when `step` begins and still in it.
const StorageInstance* Reasons::alive_before(NodeId source, std::size_t step) const {
  const StorageInstance* latest = nullptr;
  for (const StorageInstance& instance : replay_.instances)
    if (instance.owner == source && instance.birth < step && instance.last_use >= step)
      latest = &instance;
  return latest;
}

// What has to run before `source` can run at `step`: inputs that are gone, and those that are there
// only because they ran again.
void Reasons::collect_inputs(NodeId source, std::size_t step, std::vector<NodeId>& inputs) const {
  std::vector<std::pair<NodeId, std::size_t>> stack{{source, step}};
  while (!stack.empty()) {
    const auto [id, at] = stack.back();
    stack.pop_back();
    for (const NodeId operand : graph_[id].operands) {
      const NodeId behind = rules_.behind(operand);
      if (graph_.op(behind).is(kInput) || storages_.owned(behind).empty()) continue;
      if (std::find(inputs.begin(), inputs.end(), behind) != inputs.end()) continue;
      const StorageInstance* alive = alive_before(behind, at);
      if (alive != nullptr && !replay_.steps[alive->birth].again) continue;
      inputs.push_back(behind);
      stack.emplace_back(behind, alive != nullptr ? alive->birth : at);
    }
  }
}

std::size_t Reasons::first_read_in_backward(NodeId source) const {
  for (std::size_t step = 0; step < replay_.steps.size(); ++step) {
    if (replay_.steps[step].phase == Phase::forward) continue;
    for (const NodeId operand : graph_[replay_.steps[step].node].operands)
      if (rules_.behind(operand) == source) return step;
  }
  return replay_.steps.size();
}

Fate Reasons::fate_of(NodeId source) const {
  const auto& again = replay_.recomputed;
  if (std::find(again.begin(), again.end(), source) != again.end()) return Fate::recomputed;
  for (const NodeId id : planned_.plan.saved)
    if (rules_.behind(id) == source) return Fate::saved;
  return Fate::neither;
}

Reason Reasons::of(NodeId id) const {
  const NodeId source = rules_.behind(id);
  const DeviceRates& rates = planned_.costs.device.rates;
  Reason reason;
  reason.node = graph_.node_name(source);
  reason.op = graph_.op(source).name;
  reason.module = graph_.origin(source).module;
  reason.type = format(graph_.type(source));
  reason.fate = fate_of(source);
  for (const StorageId storage : storages_.owned(source)) reason.bytes += storages_[storage].bytes;
  reason.why_not = reason.fate == Fate::recomputed ? rules_.why_not_saved(source)
                                                   : rules_.why_not_recomputed(source);
  const auto choices = read_choices(graph_, request_.choices);
  if (choices)
    for (const Choice& choice : choices->each)
      reason.by_hand = reason.by_hand || std::find(choice.nodes.begin(), choice.nodes.end(),
                                                   source) != choice.nodes.end();

  const Runs runs = runs_of(source);
  if (runs.count == 0) return reason;
  reason.extra_runs = static_cast<std::int64_t>(runs.count) - 1;
  const std::size_t peak = replay_.peak_step.value_or(0);
  reason.peak_at = graph_.node_name(replay_.steps[peak].node);
  if (runs.first <= peak && peak <= runs.last_use) reason.saving_bytes = reason.bytes;
  if (graph_.op(source).is(kImpure)) return reason;
  reason.recompute_us = node_micros(graph_, source, rates);
  std::vector<NodeId> inputs;
  collect_inputs(source, runs.again.value_or(first_read_in_backward(source)), inputs);
  for (const NodeId input : inputs) {
    reason.inputs.push_back(graph_.node_name(input));
    reason.inputs_us += node_micros(graph_, input, rates);
  }
  return reason;
}

std::optional<Flip> Reasons::flip(NodeId id) const {
  const Reason reason = of(id);
  if (!reason.why_not.empty() || reason.fate == Fate::neither) return std::nullopt;
  PlanningRequest request = request_;
  const bool save = reason.fate == Fate::recomputed;
  auto& with = save ? request.choices.save : request.choices.recompute;
  auto& without = save ? request.choices.recompute : request.choices.save;
  const auto names_it = [&](const std::string& name) {
    const NodeId named = graph_.find(name);
    return named.valid() && rules_.behind(named) == rules_.behind(id);
  };
  without.erase(std::remove_if(without.begin(), without.end(), names_it), without.end());
  with.push_back(reason.node);
  const auto planned = plan_document(document_, request);
  if (!planned) return std::nullopt;
  const PlanReport& report = planned->report;
  Flip flip;
  flip.holds = report.holds();
  if (!flip.holds) flip.least_peak_bytes = report.proof->least_peak_bytes;
  flip.peak_bytes = report.peak_bytes;
  flip.saved_bytes = report.saved_bytes;
  flip.step_us = report.step_us;
  flip.recompute_us = report.recompute_us;
  return flip;
}

Result<std::vector<Explanation>> explain(const Document& document, const PlanningRequest& request,
                                         const Planned& planned,
                                         const std::vector<std::string>& names) {
  if (names.empty()) return std::vector<Explanation>();
  const Reasons reasons(document, request, planned);
  std::vector<Explanation> all;
  for (const std::string& name : names) {
    const auto id = find_node(document.graph(), name);
    if (!id) return error(fmt::format("--explain: {}", id.diagnostics().front().message));
    all.push_back({reasons.of(*id), reasons.flip(*id)});
  }
  return all;
}

}  // namespace recut
