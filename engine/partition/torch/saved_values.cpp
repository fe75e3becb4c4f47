#include "engine/partition/torch/saved_values.h"

#include <algorithm>

#include "engine/ir/aliases.h"
#include "engine/partition/knapsack/knapsack.h"
#include "engine/partition/torch/flops.h"

namespace recut::torch {
namespace {

using Position = Analysis::Position;
using Answer = std::variant<SavedValues, Impossible>;

constexpr double kGigabyte = 1e9;

CutOptions without_fusion_rules() {
  CutOptions options;
  options.used_far_apart = false;
  options.long_fusible_chains = false;
  options.materialized_in_backward = false;
  return options;
}

CutOptions without_allowlist() {
  CutOptions options = without_fusion_rules();
  options.allowlist = false;
  return options;
}

class Chooser {
 public:
  Chooser(const Analysis& analysis, double budget) : analysis_(analysis), budget_(budget) {
    for (Position p = 0; p < analysis.size(); ++p)
      if (analysis.is_primal(p)) inputs_.push_back(analysis.node(p));
  }

  Answer run() {
    if (budget_ == 0) return SavedValues{inputs_, {}, Stage::inputs_only, {}};
    if (!cut(CutOptions(), Stage::all_rules)) return impossible_;
    if (budget_ == 1) return std::move(answer_);
    least_ = gigabytes(inputs_);
    most_ = gigabytes(answer_.saved);
    if (most_ <= least_) return std::move(answer_);

    if (!cut(without_fusion_rules(), Stage::no_fusion_rules)) return impossible_;
    if (fraction(answer_.saved) < budget_) return std::move(answer_);
    if (!cut(without_allowlist(), Stage::no_allowlist)) return impossible_;
    if (fraction(answer_.saved) < budget_) return std::move(answer_);
    return fill_knapsack();
  }

 private:
  bool cut(const CutOptions& options, Stage stage, const std::vector<bool>& allowed = {}) {
    auto outcome = solve_cut(analysis_, options, allowed);
    if (auto* impossible = std::get_if<Impossible>(&outcome)) {
      impossible_ = std::move(*impossible);
      return false;
    }
    Cut& solved = std::get<Cut>(outcome);
    answer_ = SavedValues{std::move(solved.saved), std::move(solved.bans), stage, {}};
    return true;
  }

  // PyTorch sums views as if they had bytes of their own.
  double gigabytes(const std::vector<NodeId>& values) const {
    std::int64_t bytes = 0;
    for (const NodeId id : values) bytes += bytes_of(id);
    return static_cast<double>(bytes) / kGigabyte;
  }
  double fraction(const std::vector<NodeId>& values) const {
    return (gigabytes(values) - least_) / (most_ - least_);
  }
  std::int64_t bytes_of(NodeId id) const {
    return analysis_.bytes(static_cast<Position>(analysis_.graph().position(id)));
  }

  // Nodes that the last cut banned and backward could use. Inputs and views of inputs are free, and
  // no candidates.
  std::vector<Candidate> find_candidates() const {
    const Graph& graph = analysis_.graph();
    std::vector<Candidate> candidates;
    for (Position p = 0; p < analysis_.size(); ++p) {
      const NodeId id = analysis_.node(p);
      if (answer_.bans[p] == Ban::none || analysis_.is_input(p)) continue;
      if (analysis_.classes().distance[p] >= JointClasses::kUnreached) continue;
      if (stands_on_input(id)) continue;
      candidates.push_back({id, analysis_.bytes(p), counted_flops(graph, id), false});
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.bytes > b.bytes; });
    return candidates;
  }

  bool stands_on_input(NodeId id) const {
    const Graph& graph = analysis_.graph();
    return graph.op(maker_of(graph, id)).is(kInput);
  }

  // Saves the candidates with the most flops within the budget, and lets a last cut recompute the
  // others.
  Answer fill_knapsack() {
    std::vector<Candidate> candidates = find_candidates();
    if (candidates.empty()) return SavedValues{inputs_, {}, Stage::inputs_only, {}};
    std::vector<double> weights;
    std::vector<float> values;
    for (const Candidate& candidate : candidates) {
      weights.push_back(static_cast<double>(candidate.bytes) / kGigabyte / (most_ - least_));
      values.push_back(static_cast<float>(candidate.flops));
    }
    const Packed choice = quantised_knapsack(weights, values, budget_);
    std::vector<bool> allowed(analysis_.size(), false);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      candidates[i].save = choice.taken[i];
      allowed[analysis_.graph().position(candidates[i].node)] = !choice.taken[i];
    }
    if (!cut(without_allowlist(), Stage::knapsack, allowed)) return impossible_;
    answer_.candidates = std::move(candidates);
    return std::move(answer_);
  }

  const Analysis& analysis_;
  const double budget_;
  std::vector<NodeId> inputs_;
  double least_ = 0, most_ = 0;  // gigabytes at budgets 0 and 1
  SavedValues answer_;
  Impossible impossible_;
};

}  // namespace

std::string_view words(Stage stage) {
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

Answer choose_saved_values(const Analysis& analysis, double budget) {
  return Chooser(analysis, budget).run();
}

}  // namespace recut::torch
