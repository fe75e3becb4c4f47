#include "engine/workspace/planning.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/fusion/kernel_model.h"
#include "engine/workspace/budget.h"
#include "engine/workspace/plan_report_builder.h"

namespace recut {
namespace {

constexpr std::size_t kMostBlamed = 6;  // overrides to leave out one by one, at most
constexpr double kBlameEffort = 0.25;   // of a plan's effort, for each of them

// Plans without all overrides, and if that holds, without each single one.
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

// Measures every plan of a document's graph under one cost model.
struct Measure {
  Measure(const Document& of_document, const CostModel& of_costs, const Unplanned& of_unplanned)
      : document(of_document),
        costs(of_costs),
        unplanned(of_unplanned),
        kernels(costs.kernels(document.graph())) {}

  Result<Planned> of(const PlanningRequest& request, const Plan& plan) const {
    const Graph& graph = document.graph();
    auto replayed = replay(graph, kernels.storages, plan, costs.device.rates, kernels.groups);
    if (!replayed) return replayed.diagnostics();
    Planned planned{plan, report_of(graph, plan, *replayed), costs, std::move(*replayed)};
    describe(request, planned.report);
    planned.report.eager_peak_bytes = planned.report.peak_bytes;
    if (!costs.fused() && graph.measured == nullptr) return planned;
    const StorageModel values(graph, StorageModel::Sizes::values);
    const auto one_by_one = replay(graph, values, plan, costs.device.rates);
    if (!one_by_one) return one_by_one.diagnostics();
    planned.report.eager_peak_bytes = one_by_one->peak_bytes;
    return planned;
  }

  // Fills in the request's part of the report.
  void describe(const PlanningRequest& request, PlanReport& report) const {
    report.model = document.file.model.empty() ? document.graph().name : document.file.model;
    report.graph_key = document.file.key;
    report.strategy = request.strategy;
    report.budget = request.budget.empty() ? "none" : request.budget;
    report.device = costs.device.name;
    report.device_title = costs.device.title;
    report.cost_model = costs.fused() ? "fused" : "eager";
    report.fusion = costs.fusion;
    report.peak_bytes_unplanned = unplanned.peak_bytes;
    report.step_us_unplanned = unplanned.step_us;
  }

  const Document& document;
  const CostModel& costs;
  const Unplanned& unplanned;
  const KernelModel kernels;
};

}  // namespace

Result<Planned> plan_document(const Document& document, const PlanningRequest& request) {
  const Graph& graph = document.graph();
  const auto model = find_cost_model(graph, request.profile, request.device, request.cost_model);
  if (!model) return model.diagnostics();
  const auto unplanned = model->unplanned(document.written(), graph);
  if (!unplanned) return unplanned.diagnostics();
  auto planned = plan_document(document, request, *model, *unplanned);
  const auto smaller = model->smaller();
  if (!planned || planned->report.holds() || !smaller) return planned;
  auto lower = plan_document(document, request, *smaller, *unplanned);
  if (!lower) return lower;
  if (!lower->report.holds() && planned->report.peak_bytes <= lower->report.peak_bytes)
    std::swap(planned, lower);
  tell_of_both(lower->report, planned->report);
  return lower;
}

Result<Planned> plan_document(const Document& document, const PlanningRequest& request,
                              const CostModel& costs, const Unplanned& unplanned) {
  const Graph& graph = document.graph();
  const auto budget = parse_budget(request.budget, request.strategy, unplanned.peak_bytes);
  if (!budget) return budget.diagnostics();

  const auto choices = read_choices(graph, request.choices);
  if (!choices) return choices.diagnostics();

  const auto start = std::chrono::steady_clock::now();
  const CostModel pinned = costs.with(choices->pins());
  const Measure measure(document, pinned, unplanned);
  const PlanRequest wanted{request.strategy, *budget,        costs.device.rates,
                           choices->pins(),  request.limits, measure.kernels.groups,
                           request.alignment};
  const auto outcome = make_plan(graph, wanted);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  if (!outcome) return outcome.diagnostics();
  auto planned = measure.of(request, outcome->plan);
  if (!planned) return planned.diagnostics();

  PlanReport& report = planned->report;
  if (const auto* bytes = std::get_if<PeakBytes>(&*budget)) report.budget_bytes = bytes->value;
  report.proof = outcome->proof;
  report.solve_ms = taken.count();
  report.remarks = outcome->remarks;
  for (const Choice& choice : choices->each) report.choices.push_back(as_written(choice));
  if (!choices->each.empty() && !report.holds()) report.blame = blame(graph, wanted, *choices);
  return planned;
}

void tell_of_both(PlanReport& taken, const PlanReport& other) {
  taken.solve_ms += other.solve_ms;
  if (taken.holds() || other.holds()) return;
  PeakProof& proof = *taken.proof;
  proof.peak_bound_bytes = std::min(proof.peak_bound_bytes, other.proof->peak_bound_bytes);
  proof.optimal = proof.optimal && other.proof->optimal;
}

Result<Planned> measure_plan(const Document& document, const PlanningRequest& request,
                             const CostModel& costs, const Unplanned& unplanned, const Plan& plan,
                             const PlanFindings& findings) {
  const auto choices = read_choices(document.graph(), request.choices);
  if (!choices) return choices.diagnostics();
  const CostModel own = CostModel{costs.device, findings.fusion, {}}.with(choices->pins());
  auto planned = Measure(document, own, unplanned).of(request, plan);
  if (planned) static_cast<PlanFindings&>(planned->report) = findings;
  return planned;
}

}  // namespace recut
