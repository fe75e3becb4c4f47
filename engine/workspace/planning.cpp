#include "engine/workspace/planning.h"

#include <fmt/format.h>

#include <chrono>

#include "engine/partition/fusion/fuse_pointwise.h"
#include "engine/partition/replay.h"
#include "engine/partition/unplanned.h"
#include "engine/support/text.h"
#include "engine/workspace/budget.h"
#include "engine/workspace/plan_report_builder.h"

namespace recut {
namespace {

// How a graph's steps are counted and priced.
struct CostModel {
  DeviceProfile device;
  bool fused = false;

  FusionGroups groups(const Graph& graph, const StorageModel& storages) const {
    return fused ? fuse_pointwise(graph, storages) : FusionGroups();
  }
};

Result<CostModel> cost_model_of(const PlanningRequest& request) {
  if (request.cost_model != "eager" && request.cost_model != "fused")
    return error(
        fmt::format("there is no model {}, expected eager or fused", quote(request.cost_model)));
  auto device = find_device(request.device);
  if (!device) return device.diagnostics();
  return CostModel{std::move(*device), request.cost_model == "fused"};
}

Result<Unplanned> unplanned_of(const Graph& graph, const CostModel& model) {
  if (const auto total = check_total_bytes(graph); !total) return total.diagnostics();
  if (!model.fused) return unplanned_step(graph, model.device.rates);
  const StorageModel storages(graph);
  return unplanned_step(graph, storages, model.groups(graph, storages), model.device.rates);
}

// What was asked for.
void describe(const Document& document, const PlanningRequest& request, const CostModel& model,
              PlanReport& report) {
  report.model = document.file.model.empty() ? document.graph().name : document.file.model;
  report.graph_key = document.file.key;
  report.strategy = request.strategy;
  report.budget = request.budget.empty() ? "none" : request.budget;
  report.device = model.device.name;
  report.device_title = model.device.title;
  report.cost_model = request.cost_model;
}

}  // namespace

Result<Planned> plan_document(const Document& document, const PlanningRequest& request) {
  const Graph& graph = document.graph();
  const auto model = cost_model_of(request);
  if (!model) return model.diagnostics();
  const auto unplanned = unplanned_of(document.file.graph, *model);
  if (!unplanned) return unplanned.diagnostics();
  const auto budget = parse_budget(request.budget, request.strategy, unplanned->peak_bytes);
  if (!budget) return budget.diagnostics();
  const DeviceRates& rates = model->device.rates;

  const auto start = std::chrono::steady_clock::now();
  const StorageModel storages(graph);
  const FusionGroups groups = model->groups(graph, storages);
  const auto outcome =
      make_plan(graph, {request.strategy, *budget, rates, {}, request.limits, groups});
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  if (!outcome) return outcome.diagnostics();
  const auto replayed = replay(graph, storages, outcome->plan, rates, groups);
  if (!replayed) return replayed.diagnostics();
  const auto one_by_one = model->fused ? replay(graph, storages, outcome->plan, rates) : replayed;
  if (!one_by_one) return one_by_one.diagnostics();

  Planned planned{outcome->plan, report_of(graph, outcome->plan, *replayed)};
  describe(document, request, *model, planned.report);
  planned.report.eager_peak_bytes = one_by_one->peak_bytes;
  if (const auto* bytes = std::get_if<PeakBytes>(&*budget))
    planned.report.budget_bytes = bytes->value;
  planned.report.peak_bytes_unplanned = unplanned->peak_bytes;
  planned.report.step_us_unplanned = unplanned->step_us;
  planned.report.proof = outcome->proof;
  planned.report.solve_ms = taken.count();
  planned.report.remarks = outcome->remarks;
  return planned;
}

}  // namespace recut
