#include "engine/workspace/planning.h"

#include <chrono>

#include "engine/partition/replay.h"
#include "engine/workspace/budget.h"
#include "engine/workspace/plan_report_builder.h"

namespace recut {
namespace {

constexpr std::size_t kMostBlamed = 6;  // choices to try to do without, one by one
constexpr double kBlameEffort = 0.25;   // of a plan's, for each of them

// Plans without the choices, and where that holds without each one alone.
ChoiceBlame blame(const Graph& graph, const PlanRequest& request, const Choices& choices) {
  const auto holds_with = [&](const Pins& pins, double effort) {
    PlanRequest without = request;
    without.pins = pins;
    without.limits.effort *= effort;
    const auto outcome = make_plan(graph, without);
    return outcome && outcome->proof && outcome->proof->holds;
  };
  ChoiceBlame blame;
  blame.holds_without = holds_with({}, 1);
  if (!blame.holds_without || choices.each.size() > kMostBlamed) return blame;
  for (std::size_t i = 0; i < choices.each.size(); ++i)
    if (choices.each.size() == 1 || holds_with(choices.pins_without(i), kBlameEffort))
      blame.alone.push_back(as_written(choices.each[i]));
  return blame;
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
  report.cost_model = model.fused ? "fused" : "eager";
}

}  // namespace

Result<Planned> plan_document(const Document& document, const PlanningRequest& request) {
  const Graph& graph = document.graph();
  const auto model = find_cost_model(request.device, request.cost_model);
  if (!model) return model.diagnostics();
  const auto unplanned = model->unplanned(document.file.graph, graph);
  if (!unplanned) return unplanned.diagnostics();
  const auto budget = parse_budget(request.budget, request.strategy, unplanned->peak_bytes);
  if (!budget) return budget.diagnostics();
  const DeviceRates& rates = model->device.rates;

  const auto choices = read_choices(graph, request.choices);
  if (!choices) return choices.diagnostics();

  const auto start = std::chrono::steady_clock::now();
  const StorageModel storages(graph);
  const FusionGroups groups = model->groups(graph, storages);
  const PlanRequest wanted{request.strategy, *budget,        rates,
                           choices->pins(),  request.limits, groups};
  const auto outcome = make_plan(graph, wanted);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  if (!outcome) return outcome.diagnostics();
  const auto replayed = replay(graph, storages, outcome->plan, rates, groups);
  if (!replayed) return replayed.diagnostics();
  const auto one_by_one = model->fused ? replay(graph, storages, outcome->plan, rates) : replayed;
  if (!one_by_one) return one_by_one.diagnostics();

  Planned planned{outcome->plan, report_of(graph, outcome->plan, *replayed), *model};
  describe(document, request, *model, planned.report);
  planned.report.eager_peak_bytes = one_by_one->peak_bytes;
  if (const auto* bytes = std::get_if<PeakBytes>(&*budget))
    planned.report.budget_bytes = bytes->value;
  planned.report.peak_bytes_unplanned = unplanned->peak_bytes;
  planned.report.step_us_unplanned = unplanned->step_us;
  planned.report.proof = outcome->proof;
  planned.report.solve_ms = taken.count();
  planned.report.remarks = outcome->remarks;
  for (const Choice& choice : choices->each) planned.report.choices.push_back(as_written(choice));
  if (!choices->each.empty() && !planned.report.holds())
    planned.report.blame = blame(graph, wanted, *choices);
  return planned;
}

}  // namespace recut
