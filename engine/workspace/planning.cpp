#include "engine/workspace/planning.h"

#include <chrono>

#include "engine/partition/replay.h"
#include "engine/partition/unplanned.h"
#include "engine/workspace/budget.h"
#include "engine/workspace/plan_report_builder.h"

namespace recut {

Result<Planned> plan_document(const Document& document, const PlanningRequest& request) {
  const Graph& graph = document.graph();
  if (const auto total = check_total_bytes(document.file.graph); !total) return total.diagnostics();
  const auto device = find_device(request.device);
  if (!device) return device.diagnostics();
  const Unplanned unplanned = unplanned_step(document.file.graph, device->rates);
  const auto budget = parse_budget(request.budget, request.strategy, unplanned.peak_bytes);
  if (!budget) return budget.diagnostics();

  const auto start = std::chrono::steady_clock::now();
  const auto outcome =
      make_plan(graph, {request.strategy, *budget, device->rates, {}, request.limits});
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  if (!outcome) return outcome.diagnostics();
  const auto replayed = replay(graph, outcome->plan, device->rates);
  if (!replayed) return replayed.diagnostics();

  Planned planned{outcome->plan, report_of(graph, outcome->plan, *replayed)};
  planned.report.model = document.file.model.empty() ? graph.name : document.file.model;
  planned.report.graph_key = document.file.key;
  planned.report.strategy = request.strategy;
  planned.report.device = device->name;
  planned.report.device_title = device->title;
  planned.report.budget = request.budget.empty() ? "none" : request.budget;
  if (const auto* bytes = std::get_if<PeakBytes>(&*budget))
    planned.report.budget_bytes = bytes->value;
  planned.report.peak_bytes_unplanned = unplanned.peak_bytes;
  planned.report.step_us_unplanned = unplanned.step_us;
  planned.report.proof = outcome->proof;
  planned.report.solve_ms = taken.count();
  planned.report.remarks = outcome->remarks;
  return planned;
}

}  // namespace recut
