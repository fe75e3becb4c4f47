#include "engine/partition/torch/saved_values.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/cost/cost.h"
#include "engine/ir/aliases.h"
#include "engine/partition/knapsack/knapsack.h"
#include "engine/partition/torch/flops.h"

namespace recut::torch {
namespace {

using Position = Analysis::Position;

constexpr double kGigabyte = 1e9;
constexpr double kMicrosPerMilli = 1000;

CutOptions without_fusion_rules(CutOptions options) {
  options.used_far_apart = false;
  options.long_fusible_chains = false;
  options.materialized_in_backward = false;
  return options;
}

CutOptions without_allowlist(const CutOptions& rules) {
  CutOptions options = without_fusion_rules(rules);
  options.allowlist = false;
  return options;
}

class SavedValuesChooser {
 public:
  SavedValuesChooser(const Analysis& analysis, double budget, const DeviceRates& rates)
      : analysis_(analysis),
        budget_(budget),
        rates_(rates),
        rules_(cut_options(analysis.options())) {
    for (Position p = 0; p < analysis.size(); ++p)
      if (analysis.is_primal(p)) inputs_.push_back(analysis.node(p));
  }

  SavedValuesOrFault run() {
    if (budget_ == 0) return SavedValues{inputs_, {}, Stage::inputs_only, {}};
    if (!cut(rules_, Stage::all_rules)) return infinite_cut_;
    if (budget_ == 1) return std::move(result_);
    min_gb_ = gigabytes(inputs_);
    max_gb_ = gigabytes(result_.saved);
    range_bytes_ = bytes_of(result_.saved) - bytes_of(inputs_);
    if (max_gb_ <= min_gb_) return std::move(result_);

    if (!cut(without_fusion_rules(rules_), Stage::no_fusion_rules)) return infinite_cut_;
    if (fraction(result_.saved) < budget_) return std::move(result_);
    if (!cut(without_allowlist(rules_), Stage::no_allowlist)) return infinite_cut_;
    if (fraction(result_.saved) < budget_) return std::move(result_);
    return fill_knapsack();
  }

 private:
  bool cut(const CutOptions& options, Stage stage, const std::vector<bool>& allowed = {}) {
    auto outcome = solve_cut(analysis_, options, allowed);
    if (auto* infinite_cut = std::get_if<InfiniteCut>(&outcome)) {
      infinite_cut_ = std::move(*infinite_cut);
      return false;
    }
    Cut& solved = std::get<Cut>(outcome);
    result_ = SavedValues{std::move(solved.saved), std::move(solved.bans), stage, {}};
    return true;
  }

  // PyTorch sums views as if they had bytes of their own.
  std::int64_t bytes_of(const std::vector<NodeId>& values) const {
    std::int64_t bytes = 0;
    for (const NodeId id : values) bytes += bytes_of(id);
    return bytes;
  }
  double gigabytes(const std::vector<NodeId>& values) const {
    return static_cast<double>(bytes_of(values)) / kGigabyte;
  }
  double fraction(const std::vector<NodeId>& values) const {
    return (gigabytes(values) - min_gb_) / (max_gb_ - min_gb_);
  }
  std::int64_t bytes_of(NodeId id) const {
    return analysis_.bytes(static_cast<Position>(analysis_.graph().position(id)));
  }

  // Nodes that the last cut banned and backward could use. Inputs and views of inputs are free, and
  // no candidates.
  std::vector<KnapsackItem> find_candidates() const {
    std::vector<KnapsackItem> candidates;
    for (Position p = 0; p < analysis_.size(); ++p) {
      const NodeId id = analysis_.node(p);
      if (result_.bans[p] == Ban::none || analysis_.is_input(p)) continue;
      if (analysis_.classes().distance[p] >= JointClasses::kUnreached) continue;
      if (aliases_input(id)) continue;
      candidates.push_back({id, analysis_.bytes(p), runtime_of(id), false});
    }
    std::stable_sort(
        candidates.begin(), candidates.end(),
        [](const KnapsackItem& a, const KnapsackItem& b) { return a.bytes > b.bytes; });
    return candidates;
  }

  double runtime_of(NodeId id) const {
    const Graph& graph = analysis_.graph();
    switch (analysis_.options().runtime_estimator) {
      case RuntimeEstimator::flops:
        return counted_flops(graph, id);
      case RuntimeEstimator::profile:  // PyTorch benchmarks each call alone
        return node_micros(graph, id, rates_) / kMicrosPerMilli;
      case RuntimeEstimator::testing:
        break;
    }
    return 1;
  }

  bool aliases_input(NodeId id) const {
    const Graph& graph = analysis_.graph();
    return graph.op(defining_node(graph, id)).is(kInput);
  }

  // The candidates to save, within the budget: together they take longest to recompute.
  std::optional<KnapsackSolution> solve(const std::vector<KnapsackItem>& candidates) const {
    std::vector<std::int64_t> bytes;
    std::vector<double> weights, runtimes;
    for (const KnapsackItem& candidate : candidates) {
      bytes.push_back(candidate.bytes);
      weights.push_back(static_cast<double>(candidate.bytes) / kGigabyte / (max_gb_ - min_gb_));
      runtimes.push_back(candidate.runtime);
    }
    const std::vector<float> values(runtimes.begin(), runtimes.end());
    switch (analysis_.options().solver) {
      case KnapsackSolver::greedy:
        return greedy_knapsack(weights, runtimes, budget_);
      case KnapsackSolver::ilp:
        return exact_knapsack(bytes, runtimes,
                              std::llround(budget_ * static_cast<double>(range_bytes_)));
      case KnapsackSolver::sliding_hirschberg:
        return sliding_knapsack(weights, values, budget_);
      case KnapsackSolver::dp:
        break;
    }
    return quantised_knapsack(weights, values, budget_);
  }

  // Lets a last cut recompute the candidates that the knapsack doesn't save.
  SavedValuesOrFault fill_knapsack() {
    std::vector<KnapsackItem> candidates = find_candidates();
    if (candidates.empty()) return SavedValues{inputs_, {}, Stage::inputs_only, {}};
    const std::optional<KnapsackSolution> choice = solve(candidates);
    if (!choice) return KnapsackTooHard{candidates.size()};
    std::vector<bool> allowed(analysis_.size(), false);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      candidates[i].save = choice->taken[i];
      allowed[analysis_.graph().position(candidates[i].node)] = !choice->taken[i];
    }
    if (!cut(without_allowlist(rules_), Stage::knapsack, allowed)) return infinite_cut_;
    result_.candidates = std::move(candidates);
    return std::move(result_);
  }

  const Analysis& analysis_;
  const double budget_;
  const DeviceRates& rates_;
  const CutOptions rules_;
  std::vector<NodeId> inputs_;
  double min_gb_ = 0, max_gb_ = 0;  // gigabytes at budgets 0 and 1
  std::int64_t range_bytes_ = 0;    // between the two
  SavedValues result_;
  InfiniteCut infinite_cut_;
};

}  // namespace

std::string_view message(Stage stage) {
  switch (stage) {
    case Stage::inputs_only:
      return "nothing is saved but inputs";
    case Stage::all_rules:
      return "minimum cut with all rules";
    case Stage::no_fusion_rules:
      return "minimum cut without the rules about fusion";
    case Stage::no_allowlist:
      return "minimum cut that recomputes all but the expensive";
    case Stage::knapsack:
      return "knapsack over what no cut may recompute";
  }
  return "";
}

SavedValuesOrFault choose_saved_values(const Analysis& analysis, double budget,
                                       const DeviceRates& rates) {
  return SavedValuesChooser(analysis, budget, rates).run();
}

}  // namespace recut::torch
