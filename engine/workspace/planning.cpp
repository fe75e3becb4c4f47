// Plans a document: cost model, overrides and budget from a request, then the strategy, then a
// replay that measures the plan.
//
// Larger kernels hold more values at once. If a fused plan misses its budget, planning repeats with
// smaller kernels (CostModel::with_smaller_kernels), and the better plan counts. If overrides are
// the reason for a miss, `blame` names the ones without which the budget holds: it plans without
// all of them, then without each one, at a quarter of the effort.
#include "engine/workspace/planning.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/fusion/kernel_model.h"
#include "engine/workspace/budget.h"
#include "engine/workspace/plan_report.h"

namespace recut {
namespace {

constexpr std::size_t kMaxBlamed = 6;  // overrides to leave out one by one, at most
constexpr double kBlameEffort = 0.25;  // of a plan's effort, for each of them

constexpr std::string_view kOverridable = "peak";  // the strategy that takes overrides

// Only a strategy that takes overrides follows the model's checkpoint policies.
OverrideRequest overrides_of(const PlanningRequest& request) {
  OverrideRequest overrides = request.overrides;
  overrides.ignore_checkpoints |= request.strategy != kOverridable;
  return overrides;
}

// The options are known to be sound.
std::vector<std::string> torch_settings_of(const PlanningRequest& request) {
  const auto options = read_torch_options(request.torch);
  std::vector<std::string> settings;
  for (const TorchSetting& setting : all_torch_settings(options ? *options : TorchOptions()))
    settings.push_back(fmt::format("{}={}", setting.name, setting.value));
  return settings;
}

// Plans without all overrides, and if that holds, without each single one.
OverrideBlame blame(const Graph& graph, const PlanRequest& request,
                    const NamedOverrides& named_overrides) {
  const auto holds_with = [&](const Overrides& overrides, double effort) {
    PlanRequest without = request;
    without.overrides = overrides;
    without.limits.effort *= effort;
    const auto outcome = make_plan(graph, without);
    return outcome && outcome->proof && outcome->proof->holds;
  };
  OverrideBlame blame;
  blame.feasible_without = holds_with({}, 1);
  if (!blame.feasible_without || named_overrides.each.size() > kMaxBlamed) return blame;
  for (std::size_t i = 0; i < named_overrides.each.size(); ++i)
    if (named_overrides.each.size() == 1 ||
        holds_with(named_overrides.overrides_without(i), kBlameEffort))
      blame.sufficient.push_back(as_written(named_overrides.each[i]));
  return blame;
}

// Measures every plan of a document's graph under one cost model.
struct PlanMeasurer {
  PlanMeasurer(const Document& of_document, const CostModel& of_costs,
               const BaselineCost& of_baseline_cost)
      : document(of_document),
        costs(of_costs),
        baseline_cost(of_baseline_cost),
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
    const auto eager = replay(graph, values, plan, costs.device.rates);
    if (!eager) return eager.diagnostics();
    planned.report.eager_peak_bytes = eager->peak_bytes;
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
    if (request.strategy == "torch") report.torch_settings = torch_settings_of(request);
    report.baseline_peak_bytes = baseline_cost.peak_bytes;
    report.baseline_step_us = baseline_cost.step_us;
  }

  const Document& document;
  const CostModel& costs;
  const BaselineCost& baseline_cost;
  const KernelModel kernels;
};

}  // namespace

Result<Planned> plan_document(const Document& document, const PlanningRequest& request) {
  const Graph& graph = document.graph();
  const auto model = find_cost_model(graph, request.profile, request.device, request.cost_model);
  if (!model) return model.diagnostics();
  const auto baseline_cost = model->baseline_cost(document.reference_graph(), graph);
  if (!baseline_cost) return baseline_cost.diagnostics();
  auto planned = plan_document(document, request, *model, *baseline_cost);
  const auto smaller = model->with_smaller_kernels();
  if (planned && !planned->report.holds() && smaller) {
    auto lower = plan_document(document, request, *smaller, *baseline_cost);
    if (!lower) return lower;
    if (!lower->report.holds() && planned->report.peak_bytes <= lower->report.peak_bytes)
      std::swap(planned, lower);
    merge_findings(lower->report, planned->report);
    planned = std::move(lower);
  }
  if (planned) planned->report.torch = torch_saved(document);
  return planned;
}

Result<Planned> plan_document(const Document& document, const PlanningRequest& request,
                              const CostModel& costs, const BaselineCost& baseline_cost) {
  const Graph& graph = document.graph();
  const auto budget = parse_budget(request.budget, request.strategy, baseline_cost.peak_bytes);
  if (!budget) return budget.diagnostics();

  const auto named_overrides = resolve_overrides(graph, overrides_of(request));
  if (!named_overrides) return named_overrides.diagnostics();

  auto torch = read_torch_options(request.torch);
  if (!torch) return torch.diagnostics();

  const auto start = std::chrono::steady_clock::now();
  const CostModel overridden = costs.with_overrides(named_overrides->overrides());
  const PlanMeasurer measurer(document, overridden, baseline_cost);
  const PlanRequest plan_request{request.strategy,   *budget,
                                 costs.device.rates, named_overrides->overrides(),
                                 request.limits,     measurer.kernels.groups,
                                 request.alignment,  std::move(*torch)};
  const auto outcome = make_plan(graph, plan_request);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  if (!outcome) return outcome.diagnostics();
  auto planned = measurer.of(request, outcome->plan);
  if (!planned) return planned.diagnostics();

  PlanReport& report = planned->report;
  if (const auto* bytes = std::get_if<PeakBytes>(&*budget)) report.budget_bytes = bytes->value;
  report.proof = outcome->proof;
  report.solve_ms = taken.count();
  report.remarks = outcome->remarks;
  if (request.strategy != kOverridable && has_checkpoint_policies(graph))
    report.remarks.push_back(
        fmt::format("the model's checkpoint policies are left out: only strategy '{}' follows them",
                    kOverridable));
  for (const NamedOverride& named : named_overrides->each)
    report.overrides.push_back(as_written(named));
  if (!named_overrides->each.empty() && !report.holds())
    report.blame = blame(graph, plan_request, *named_overrides);
  return planned;
}

void merge_findings(PlanReport& taken, const PlanReport& other) {
  taken.solve_ms += other.solve_ms;
  if (taken.holds() || other.holds()) return;
  PeakProof& proof = *taken.proof;
  proof.peak_bound_bytes = std::min(proof.peak_bound_bytes, other.proof->peak_bound_bytes);
  proof.optimal = proof.optimal && other.proof->optimal;
}

Result<Planned> measure_plan(const Document& document, const PlanningRequest& request,
                             const CostModel& costs, const BaselineCost& baseline_cost,
                             const Plan& plan, const PlanFindings& findings) {
  const auto named_overrides = resolve_overrides(document.graph(), overrides_of(request));
  if (!named_overrides) return named_overrides.diagnostics();
  const CostModel own =
      CostModel{costs.device, findings.fusion, {}}.with_overrides(named_overrides->overrides());
  auto planned = PlanMeasurer(document, own, baseline_cost).of(request, plan);
  if (planned) static_cast<PlanFindings&>(planned->report) = findings;
  return planned;
}

}  // namespace recut
