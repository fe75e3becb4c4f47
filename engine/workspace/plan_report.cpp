#include "engine/workspace/plan_report.h"

#include <algorithm>
#include <unordered_map>

#include "engine/ir/data_flow.h"
#include "engine/support/units.h"

namespace recut {

const char* name_of(MemoryKind kind, bool inference) {
  switch (kind) {
    case MemoryKind::saved:
      return "saved";
    case MemoryKind::recomputed:
      return "recomputed";
    case MemoryKind::result:
      return inference ? "result" : "result or gradient";
    case MemoryKind::temporary:
      return "temporary";
  }
  return "";
}

MemoryKind kind_of(InstanceClass instance) {
  switch (instance) {
    case InstanceClass::result:
    case InstanceClass::gradient:
      return MemoryKind::result;
    case InstanceClass::saved:
      return MemoryKind::saved;
    case InstanceClass::recomputed:
      return MemoryKind::recomputed;
    case InstanceClass::forward_temporary:
    case InstanceClass::backward_temporary:
      return MemoryKind::temporary;
  }
  return MemoryKind::temporary;
}

namespace {

StorageRow row_of(const Graph& graph, const StorageInstance& instance) {
  const std::string& owner = graph.node_name(instance.owner);
  return {instance.workspace ? "workspace of " + owner : owner,
          std::string(graph.op(instance.owner).name),
          graph.origin(instance.owner).module,
          instance.workspace ? std::string() : format(graph.type(instance.owner)),
          kind_of(instance.kind),
          instance.bytes};
}

// Largest first; equal ones in the order in which they were made.
void sort_by_bytes(std::vector<StorageRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const StorageRow& a, const StorageRow& b) { return a.bytes > b.bytes; });
}

std::vector<TimelineStep> timeline_of(const Graph& graph, const Replay& replay) {
  std::vector<TimelineStep> timeline;
  for (const PlanStep& step : replay.steps)
    timeline.push_back({graph.node_name(step.node),
                        graph.origin(step.node).module,
                        step.phase == Phase::backward,
                        {}});
  // Differences at births and after last uses, then running sums.
  for (const StorageInstance& instance : replay.instances) {
    const auto kind = static_cast<std::size_t>(kind_of(instance.kind));
    timeline[instance.birth].bytes[kind] += instance.bytes;
    if (instance.last_use + 1 < timeline.size())
      timeline[instance.last_use + 1].bytes[kind] -= instance.bytes;
  }
  for (std::size_t t = 1; t < timeline.size(); ++t)
    for (std::size_t kind = 0; kind < kMemoryKinds; ++kind)
      timeline[t].bytes[kind] += timeline[t - 1].bytes[kind];
  return timeline;
}

std::vector<RecomputedRow> recomputed_rows(const Graph& graph, const Replay& replay) {
  std::vector<RecomputedRow> rows;
  std::unordered_map<std::uint32_t, std::size_t> row_of_node;
  for (const PlanStep& step : replay.steps) {
    if (!step.again) continue;
    const NodeId id = step.node;
    const auto [it, first] = row_of_node.emplace(id.index, rows.size());
    if (first)
      rows.push_back(
          {graph.node_name(id), std::string(graph.op(id).name), graph.origin(id).module, 0, 0});
    rows[it->second].extra_runs += 1;
    rows[it->second].micros += step.micros;
  }
  std::stable_sort(rows.begin(), rows.end(), [](const RecomputedRow& a, const RecomputedRow& b) {
    return a.micros > b.micros;
  });
  return rows;
}

void add_given_values(const Graph& graph, PlanReport& report) {
  const std::vector<bool> live = live_nodes(graph);
  for (std::size_t p = 0; p < live.size(); ++p) {
    const NodeId id = graph.order()[p];
    if (!live[p] || !graph.op(id).is(kInput)) continue;
    const bool weight =
        graph[id].op != Op::placeholder || graph.input_kind(id) == InputKind::parameter;
    GivenValues& given = weight ? report.weights : report.inputs;
    given.count += 1;
    given.bytes += byte_size(graph.type(id));
  }
}

}  // namespace

PlanReport report_of(const Graph& graph, const Plan& plan, const Replay& replay) {
  PlanReport report;
  report.inference = !is_joint(graph);
  add_given_values(graph, report);
  report.nodes = static_cast<std::int64_t>(graph.order().size());
  report.forward_runs = static_cast<std::int64_t>(plan.forward.size());
  report.backward_runs = static_cast<std::int64_t>(plan.backward.size());
  report.peak_bytes = replay.peak_bytes;
  report.peak_step = replay.peak_step.value_or(0);
  report.saved_bytes = replay.saved_bytes;
  report.saved_values = static_cast<std::int64_t>(plan.saved.size());
  report.step_us = replay.step_us;
  report.recompute_us = replay.recompute_us;
  report.recomputed_runs = static_cast<std::int64_t>(replay.recomputed.size());
  for (const PlanStep& step : replay.steps)
    report.inlined_calls += step.inlined && !graph.op(step.node).is(kView) ? 1 : 0;
  report.recomputed = recomputed_rows(graph, replay);
  report.timeline = timeline_of(graph, replay);
  for (const StorageInstance& instance : replay.instances) {
    if (instance.kept) report.saved.push_back(row_of(graph, instance));
    const bool at_peak = replay.peak_step && instance.birth <= *replay.peak_step &&
                         instance.last_use >= *replay.peak_step;
    if (at_peak) report.at_peak.push_back(row_of(graph, instance));
  }
  sort_by_bytes(report.saved);
  sort_by_bytes(report.at_peak);
  return report;
}

std::int64_t arena_over_budget(std::int64_t arena_bytes, std::int64_t peak_bytes,
                               std::int64_t budget_bytes) {
  if (budget_bytes == 0 || peak_bytes > budget_bytes) return 0;
  return std::max<std::int64_t>(0, arena_bytes - budget_bytes);
}

std::string arena_note(std::int64_t arena_bytes, std::int64_t peak_bytes,
                       std::int64_t budget_bytes) {
  const std::int64_t beyond = arena_over_budget(arena_bytes, peak_bytes, budget_bytes);
  if (beyond > 0) return format_bytes(beyond) + " above the budget";
  const std::int64_t more = arena_bytes - peak_bytes;
  return more >= 0 ? format_bytes(more) + " above the peak"
                   : format_bytes(-more) + " below the peak";
}

std::string step_label(const PlanReport& report, std::size_t step) {
  const auto at = static_cast<std::int64_t>(step);
  if (report.inference) return "step " + format_count(at + 1);
  const bool backward = at >= report.forward_runs;
  return (backward ? "backward " : "forward ") +
         format_count(at - (backward ? report.forward_runs : 0) + 1);
}

}  // namespace recut
