// A plan and its report as JSON.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/workspace/json_text.h"
#include "engine/workspace/plan_report.h"
#include "engine/workspace/planning.h"
#include "engine/workspace/reasons.h"

namespace recut {
namespace {

using Json = nlohmann::ordered_json;

// Names may hold any bytes. Bytes that are no UTF-8 are replaced, since JSON has no form for them.
Json names_of(const Graph& graph, const std::vector<NodeId>& ids) {
  Json names = Json::array();
  for (const NodeId id : ids) names.push_back(graph.node_name(id));
  return names;
}

Json storage_json(const StorageRow& row, bool inference) {
  return {{"name", row.node},
          {"op", row.op},
          {"module", row.module},
          {"type", row.type},
          {"kind", name_of(row.kind, inference)},
          {"bytes", row.bytes}};
}

Json recomputed_json(const RecomputedRow& row) {
  return {{"name", row.node},
          {"op", row.op},
          {"module", row.module},
          {"extra_runs", row.extra_runs},
          {"us", row.micros}};
}

Json explanation_json(const Explanation& e) {
  const Reason& r = e.reason;
  Json json = {{"name", r.node},
               {"op", r.op},
               {"module", r.module},
               {"type", r.type},
               {"fate", name_of(r.decision)},
               {"by_hand", r.overridden},
               {"bytes", r.bytes},
               {"saving_bytes_at_peak", r.saving_bytes},
               {"peak_at", r.peak_at},
               {"flip_bytes_at_peak", r.flip_bytes},
               {"recompute_us", r.recompute_us},
               {"inputs_us", r.inputs_us},
               {"inputs", r.inputs},
               {"extra_runs", r.extra_runs}};
  if (!r.why_not.empty()) json["why_not"] = r.why_not;
  if (!e.flip) return json;
  json["flip"] = {{"holds", e.flip->holds},
                  {"peak_bytes", e.flip->peak_bytes},
                  {"saved_bytes", e.flip->saved_bytes},
                  {"step_us", e.flip->step_us},
                  {"recompute_us", e.flip->recompute_us}};
  if (!e.flip->holds) json["flip"]["least_peak_bytes"] = e.flip->min_peak_bytes;
  return json;
}

// The bounds of a strategy that proves some.
void add_proof(Json& json, const PlanReport& report) {
  if (report.budget_bytes > 0) json["budget_bytes"] = report.budget_bytes;
  if (!report.proof) return;
  json["holds"] = report.proof->holds;
  if (!report.proof->holds) json["least_peak_bytes"] = report.proof->min_peak_bytes;
  json["peak_bound_bytes"] = report.proof->peak_bound_bytes;
  json["recompute_bound_us"] = report.proof->recompute_bound_us;
  json["optimal"] = report.proof->optimal;
}

// The values that the step keeps for backward; of inference, those of its caller.
Json kept_json(const PlanReport& report) {
  if (!report.inference)
    return {{"saved_bytes", report.saved_bytes},
            {"saved_storages", report.saved_storages()},
            {"saved_values", report.saved_values}};
  return {{"inference", true},
          {"weights", report.weights.count},
          {"weights_bytes", report.weights.bytes},
          {"inputs", report.inputs.count},
          {"inputs_bytes", report.inputs.bytes}};
}

// The figures that scripts read, under the names that the command's contract gives them.
Json figures(const PlanReport& report) {
  Json json = {{"model", report.model},
               {"graph", report.graph_key},
               {"strategy", report.strategy},
               {"budget", report.budget},
               {"device", report.device},
               {"cost_model", report.cost_model},
               {"fusion", name_of(report.fusion)},
               {"peak_bytes", report.peak_bytes},
               {"peak_at", report.timeline.empty() ? "" : report.timeline[report.peak_step].node},
               {"peak_bytes_without_recomputation", report.baseline_peak_bytes}};
  json.update(kept_json(report));
  json.update({{"step_us", report.step_us},
               {"step_us_without_recomputation", report.baseline_step_us},
               {"recompute_us", report.recompute_us},
               {"recomputed_runs", report.recomputed_runs},
               {"solve_ms", report.solve_ms},
               {"nodes", report.nodes}});
  if (report.device == kMeasuredDevice) json["device_title"] = report.device_title;
  for (const std::string& setting : report.torch_settings) {
    const std::size_t cut = setting.find('=');
    json["torch_options"][setting.substr(0, cut)] = setting.substr(cut + 1);
  }
  if (report.arena_bytes > 0) json["arena_bytes"] = report.arena_bytes;
  if (report.torch)
    json["torch_saved"] = {{"bytes", report.torch->bytes},
                           {"storages", report.torch->storages},
                           {"values", report.torch->values},
                           {"peak_bytes", report.torch->peak_bytes}};
  if (report.cost_model != "eager") {
    json["eager_peak_bytes"] = report.eager_peak_bytes;
    json["inlined_calls"] = report.inlined_calls;
  }
  add_proof(json, report);
  if (!report.overrides.empty()) json["choices"] = report.overrides;
  if (report.blame) {
    json["holds_without_choices"] = report.blame->feasible_without;
    json["holds_without"] = report.blame->sufficient;
  }
  return json;
}

}  // namespace

std::string plan_file_json(const Graph& graph, const Planned& planned) {
  Json same = Json::object();
  for (const auto& [alias, id] : graph.aliases()) same[alias] = graph.node_name(id);
  Json json = {{"forward", names_of(graph, planned.plan.forward)},
               {"saved", names_of(graph, planned.plan.saved)},
               {"backward", names_of(graph, planned.plan.backward)},
               {"same", same}};
  json.update(figures(planned.report));
  return json_text(json, -1);
}

std::string plan_report_json(const PlanReport& report) { return plan_report_json(report, {}); }

std::string plan_report_json(const PlanReport& report,
                             const std::vector<Explanation>& explanations) {
  Json json = figures(report);
  json["remarks"] = report.remarks;
  const auto rows = [&](const std::vector<StorageRow>& storages) {
    Json list = Json::array();
    for (const StorageRow& row : storages) list.push_back(storage_json(row, report.inference));
    return list;
  };
  if (!report.inference) json["saved"] = rows(report.saved);
  json["at_peak"] = rows(report.at_peak);
  json["recomputed"] = Json::array();
  for (const RecomputedRow& row : report.recomputed)
    json["recomputed"].push_back(recomputed_json(row));
  for (const Explanation& explanation : explanations)
    json["explain"].push_back(explanation_json(explanation));
  return json_text(json);
}

}  // namespace recut
