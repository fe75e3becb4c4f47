#include "engine/workspace/planning.h"

#include <chrono>

#include "engine/partition/replay.h"
#include "engine/workspace/budget.h"
#include "engine/workspace/plan_report_builder.h"

namespace recut {
namespace {

// The peak with no recomputation: everything that backward reads is saved.
Result<std::int64_t> unplanned_peak(const Graph& graph) {
  const auto outcome = make_plan(graph, {"default", NoBudget{}});
  if (!outcome) return outcome.diagnostics();
  const auto replayed = replay(graph, outcome->plan);
  if (!replayed) return replayed.diagnostics();
  return replayed->peak_bytes;
}

}  // namespace

Result<Planned> plan_document(const Document& document, const PlanningRequest& request) {
  const Graph& graph = document.graph();
  const auto unplanned = unplanned_peak(graph);
  if (!unplanned) return unplanned.diagnostics();
  const auto budget = parse_budget(request.budget, request.strategy, *unplanned);
  if (!budget) return budget.diagnostics();

  const auto start = std::chrono::steady_clock::now();
  const auto outcome = make_plan(graph, {request.strategy, *budget});
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  if (!outcome) return outcome.diagnostics();
  const auto replayed = replay(graph, outcome->plan);
  if (!replayed) return replayed.diagnostics();

  Planned planned{outcome->plan, report_of(graph, outcome->plan, *replayed)};
  planned.report.model = document.file.model.empty() ? graph.name : document.file.model;
  planned.report.graph_key = document.file.key;
  planned.report.strategy = request.strategy;
  planned.report.budget = request.budget.empty() ? "none" : request.budget;
  planned.report.peak_bytes_unplanned = *unplanned;
  planned.report.solve_ms = taken.count();
  planned.report.remarks = outcome->remarks;
  return planned;
}

}  // namespace recut
