// Strategy `torch`: PyTorch's min-cut partitioner (min_cut_rematerialization_partition).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/ir/data_flow.h"
#include "engine/ir/rebuild.h"
#include "engine/partition/knapsack/knapsack.h"
#include "engine/partition/plan_from_saved.h"
#include "engine/partition/problem/fused_plan_from_saved.h"
#include "engine/partition/strategies.h"
#include "engine/partition/torch/saved_values.h"
#include "engine/support/text.h"

namespace recut {
namespace {

Result<double> fraction_of(const Budget& budget) {
  if (std::holds_alternative<NoBudget>(budget)) return 1.0;
  if (std::holds_alternative<PeakBytes>(budget))
    return error(
        "strategy 'torch' takes a fraction of saved bytes, 0 … 1, as its budget; found a bound on "
        "the peak in bytes, which PyTorch's partitioner has no way to hold");
  const double fraction = std::get<SavedFraction>(budget).value;
  if (!(fraction >= 0 && fraction <= 1))
    return error(fmt::format(
        "strategy 'torch' takes a fraction of saved bytes, 0 … 1, as its budget; found {}",
        fraction));
  return fraction;
}

// PyTorch removes dead nodes before it looks at uses.
bool has_dead_calls(const Graph& graph) {
  std::vector<bool> live(graph.order().size(), false);
  for (const NodeId id : graph.results)
    if (id.valid()) live[graph.position(id)] = true;
  for (const NodeId id : graph.gradients)
    if (id.valid()) live[graph.position(id)] = true;
  for (std::size_t p = live.size(); p-- > 0;) {
    const NodeId id = graph.order()[p];
    if (!live[p] && !graph.op(id).is(kInput)) return true;
    if (live[p])
      for (const NodeId operand : graph[id].operands) live[graph.position(operand)] = true;
  }
  return false;
}

Diagnostic no_plan(const Graph& graph, const torch::InfiniteCut& infinite_cut) {
  std::string chain;
  for (const NodeId id : infinite_cut.chain)
    chain += fmt::format("{}'{}' ({})", chain.empty() ? "" : " -> ", graph.node_name(id),
                         graph.op(id).name);
  return error(fmt::format(
      "backward needs a value that may neither be recomputed nor saved; by way of {}", chain));
}

// The options that differ from PyTorch's usual ones.
void describe_options(const TorchOptions& options, PlanOutcome& outcome) {
  if (const auto off = rules_off(options); !off.empty())
    outcome.remarks.push_back(fmt::format("off: {}", fmt::join(off, ", ")));
  for (const auto* list :
       {&options.recomputable, &options.not_recomputable, &options.static_inputs}) {
    const char* what = list == &options.recomputable       ? "may be recomputed, too"
                       : list == &options.not_recomputable ? "off the allowlist"
                                                           : "free to save";
    if (!list->empty())
      outcome.remarks.push_back(fmt::format("{}: {}", what, fmt::join(*list, ", ")));
  }
}

void describe(const torch::SavedValues& chosen, const torch::Analysis& analysis,
              PlanOutcome& outcome) {
  outcome.remarks.emplace_back(torch::message(chosen.stage));
  if (chosen.stage == torch::Stage::knapsack) {
    const auto saved = std::count_if(chosen.candidates.begin(), chosen.candidates.end(),
                                     [](const torch::KnapsackItem& c) { return c.save; });
    outcome.remarks.push_back(
        fmt::format("of {} candidates {} are saved", chosen.candidates.size(), saved));
    for (const TorchSetting& setting : all_torch_settings(analysis.options()))
      if (setting.name == "solver" || setting.name == "runtime_estimator")
        outcome.remarks.push_back(fmt::format("{}: {}", setting.name, setting.value));
  }
  describe_options(analysis.options(), outcome);
  for (std::size_t p = 0; p < chosen.bans.size(); ++p)
    if (chosen.bans[p] != torch::Ban::none)
      outcome.node_remarks.push_back({analysis.graph().order()[p], torch::message(chosen.bans[p])});
}

Diagnostic too_hard(std::size_t candidates) {
  return error(fmt::format(
      "solver 'ilp' gave up on {} values: it would have to keep more than {} sums of bytes. "
      "Choose solver=dp, or another budget",
      candidates, kMaxKnapsackSums));
}

Result<Done> check_inputs(const Graph& graph, const TorchOptions& options) {
  for (const std::string& name : options.static_inputs) {
    const NodeId id = graph.find(name);
    if (!id.valid() || graph[id].op != Op::placeholder ||
        graph.input_kind(id) == InputKind::tangent)
      return error(fmt::format(
          "option 'static_inputs' names {}, expected an input of the graph that is no tangent",
          quote(name)));
  }
  return Done{};
}

Result<PlanOutcome> plan_live_graph(const Graph& graph, double fraction,
                                    const PlanRequest& request) {
  if (const auto known = check_inputs(graph, request.torch); !known) return known.diagnostics();
  const torch::Analysis analysis(graph, request.torch);
  if (!analysis.classes().any_backward) return plan_default(graph, {});
  const auto choice = torch::choose_saved_values(analysis, fraction, request.rates);
  if (const auto* hard = std::get_if<torch::KnapsackTooHard>(&choice))
    return too_hard(hard->candidates);
  if (const auto* infinite_cut = std::get_if<torch::InfiniteCut>(&choice))
    return no_plan(graph, *infinite_cut);
  const auto& chosen = std::get<torch::SavedValues>(choice);
  PlanOutcome outcome;
  outcome.plan = plan_from_saved(graph, chosen.saved);
  describe(chosen, analysis, outcome);
  return outcome;
}

}  // namespace

Result<PlanOutcome> plan_torch(const Graph& graph, const PlanRequest& request) {
  if (!is_joint(graph))
    return error(
        "strategy 'torch' chooses the values that backward keeps, and a forward graph has no "
        "backward: expected strategy 'peak' or 'default'");
  const Result<double> fraction = fraction_of(request.budget);
  if (!fraction) return fraction.diagnostics();
  // Both graphs share their node ids.
  Result<PlanOutcome> outcome = has_dead_calls(graph)
                                    ? plan_live_graph(without_dead_nodes(graph), *fraction, request)
                                    : plan_live_graph(graph, *fraction, request);
  // PyTorch partitions call by call, and fuses each pass afterwards.
  if (outcome && request.groups.fused())
    outcome->plan =
        plan_from_saved(graph, StorageModel(graph), request.groups, outcome->plan.saved);
  return outcome;
}

}  // namespace recut
