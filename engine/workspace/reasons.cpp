#include "engine/workspace/reasons.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/cost/cost.h"
#include "engine/ir/aliases.h"

// An explanation compares both decisions on one value with everything else unchanged: bytes at the
// peak against the time of one more run, with the inputs that it would have to recompute. That is
// an estimate, in O(nodes) a value; flip() plans again under an override and gives the true
// difference.

namespace recut {

Reasons::Reasons(const Document& document, const PlanningRequest& request, const Planned& planned,
                 StorageModel storages, OverrideRules rules)
    : document_(document),
      graph_(document.graph()),
      request_(request),
      planned_(planned),
      storages_(std::move(storages)),
      replay_(planned.replay),
      rules_(std::move(rules)),
      index_(graph_, planned.plan, replay_),
      overridden_(graph_.order().size(), false),
      bytes_at_peak_(graph_.order().size(), 0) {}

Reasons::Reasons(const Document& document, const PlanningRequest& request, const Planned& planned)
    : Reasons(document, request, planned, StorageModel(document.graph()),
              OverrideRules(document.graph())) {
  while (read(SIZE_MAX)) {
  }
}

bool Reasons::read(std::size_t count) {
  if (index_.read(count)) return true;
  const std::size_t peak = replay_.peak_step.value_or(0);
  for (; count > 0 && next_ < replay_.instances.size(); --count) {
    const StorageInstance& instance = replay_.instances[next_++];
    if (!instance.workspace && instance.birth <= peak && peak <= instance.last_use)
      bytes_at_peak_[graph_.position(instance.owner)] += instance.bytes;
  }
  if (next_ < replay_.instances.size()) return true;
  mark_overrides();
  return false;
}

void Reasons::mark_overrides() {
  const auto named_overrides = resolve_overrides(graph_, request_.overrides);
  if (!named_overrides) return;
  for (const NamedOverride& named : named_overrides->each)
    for (const NodeId id : named.nodes)
      overridden_[graph_.position(defining_node(graph_, id))] = true;
}

ReasonFinder::ReasonFinder(const Document& document, const PlanningRequest& request,
                           const Planned& planned)
    : document_(document), request_(request), planned_(planned) {
  // The storage model and the rules visit all nodes, the index and the peak all instances.
  const Replay& replay = planned.replay;
  all_ = 2 * document.graph().order().size() + replay.steps.size() + 2 * replay.instances.size();
}

bool ReasonFinder::step(std::size_t count) {
  const std::size_t nodes = document_.graph().order().size();
  if (reasons_) {
    done_ = std::min(all_, done_ + std::min(count, all_));
    return reasons_->read(count);
  }
  done_ += nodes;
  if (!storages_) {
    storages_.emplace(document_.graph());
    return true;
  }
  reasons_.reset(new Reasons(document_, request_, planned_, std::move(*storages_),
                             OverrideRules(document_.graph())));
  return true;
}

double ReasonFinder::share() const {
  return static_cast<double>(done_) / static_cast<double>(std::max<std::size_t>(1, all_));
}

// Collects the recomputations that a run of `source` at `step` needs: inputs that are dead, and
// inputs that are alive only by recomputation.
void Reasons::collect_inputs(NodeId source, std::size_t step, std::vector<NodeId>& inputs) const {
  std::vector<bool> listed(graph_.order().size(), false);
  std::vector<std::pair<NodeId, std::size_t>> stack{{source, step}};
  while (!stack.empty()) {
    const auto [id, at] = stack.back();
    stack.pop_back();
    for (const NodeId operand : graph_[id].operands) {
      const NodeId behind = defining_node(graph_, operand);
      if (graph_.op(behind).is(kInput) || storages_.owned(behind).empty()) continue;
      if (listed[graph_.position(behind)]) continue;
      const StorageInstance* alive = index_.alive_before(behind, at);
      if (alive != nullptr && !replay_.steps[alive->birth].again) continue;
      listed[graph_.position(behind)] = true;
      inputs.push_back(behind);
      stack.emplace_back(behind, alive != nullptr ? alive->birth : at);
    }
  }
}

Reason Reasons::of(NodeId id) const {
  const NodeId source = defining_node(graph_, id);
  const DeviceRates& rates = planned_.costs.device.rates;
  Reason reason;
  reason.node = graph_.node_name(source);
  reason.op = graph_.op(source).name;
  reason.module = graph_.origin(source).module;
  reason.type = format(graph_.type(source));
  reason.decision = index_.of(source).decision;
  for (const StorageId storage : storages_.owned(source)) reason.bytes += storages_[storage].bytes;
  reason.why_not = reason.decision == RematDecision::recomputed ? rules_.why_not_saved(source)
                                                                : rules_.why_not_recomputed(source);
  reason.overridden = overridden_[graph_.position(source)];

  const PlanIndex::Runs& runs = index_.of(source);
  if (runs.count == 0) return reason;
  reason.extra_runs = static_cast<std::int64_t>(runs.count) - 1;
  const std::size_t peak = replay_.peak_step.value_or(0);
  reason.peak_at = graph_.node_name(replay_.steps[peak].node);
  if (runs.first <= peak && peak <= runs.last_use) reason.saving_bytes = reason.bytes;
  reason.flip_bytes = flip_bytes(source, reason);
  if (draws_anew(graph_.op(source))) return reason;
  reason.recompute_us = node_micros(graph_, source, rates);
  std::vector<NodeId> inputs;
  collect_inputs(source, runs.again.value_or(runs.first_backward_read), inputs);
  for (const NodeId input : inputs) {
    reason.inputs.push_back(graph_.node_name(input));
    reason.inputs_us += node_micros(graph_, input, rates);
  }
  return reason;
}

// Saved instead of recomputed, the value lives from its first run to its last use, without its
// other instances. Recomputed instead of saved, it lives until forward's last read, and again from
// backward's first read.
std::int64_t Reasons::flip_bytes(NodeId source, const Reason& reason) const {
  if (!reason.why_not.empty() || reason.decision == RematDecision::neither) return 0;
  const std::int64_t now = bytes_at_peak_[graph_.position(source)];
  if (reason.decision == RematDecision::recomputed) return reason.saving_bytes - now;
  const std::size_t peak = replay_.peak_step.value_or(0);
  const PlanIndex::Runs& runs = index_.of(source);
  return peak <= runs.last_forward_read || peak >= runs.first_backward_read ? 0 : -now;
}

std::vector<NodeId> Reasons::values() const {
  std::vector<NodeId> values;
  for (const NodeId id : graph_.order()) {
    if (defining_node(graph_, id) != id || storages_.owned(id).empty()) continue;
    const PlanIndex::Runs& runs = index_.of(id);
    if (runs.count > 0 && replay_.steps[runs.first].phase == Phase::forward) values.push_back(id);
  }
  return values;
}

std::optional<PlanningRequest> Reasons::flip_request(NodeId id) const {
  const Reason reason = of(id);
  if (!reason.why_not.empty() || reason.decision == RematDecision::neither) return std::nullopt;
  PlanningRequest request = request_;
  const bool save = reason.decision == RematDecision::recomputed;
  auto& with = save ? request.overrides.save : request.overrides.recompute;
  auto& without = save ? request.overrides.recompute : request.overrides.save;
  const auto names_it = [&](const std::string& name) {
    const NodeId named = graph_.find(name);
    return named.valid() && defining_node(graph_, named) == defining_node(graph_, id);
  };
  without.erase(std::remove_if(without.begin(), without.end(), names_it), without.end());
  with.push_back(reason.node);
  return request;
}

std::optional<Flip> Reasons::flip(NodeId id) const {
  const auto request = flip_request(id);
  if (!request) return std::nullopt;
  const auto planned = plan_document(document_, *request);
  if (!planned) return std::nullopt;
  return flip_of(planned->report);
}

Flip flip_of(const PlanReport& report) {
  Flip flip;
  flip.holds = report.holds();
  if (!flip.holds) flip.min_peak_bytes = report.proof->min_peak_bytes;
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
