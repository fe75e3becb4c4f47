// The values that PyTorch saves at a memory budget (torch/_functorch/partitioners.py,
// choose_saved_values_set): up to three minimum cuts with fewer and fewer bans; if even the last
// saves more than the budget, a knapsack over the nodes that it banned. Cost: at most four maximum
// flows and one knapsack.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/cost/device.h"
#include "engine/partition/torch/cut.h"

namespace recut::torch {

// The stage that met the budget: a cut, each with fewer bans than the one before, or the knapsack.
enum class Stage : std::uint8_t { inputs_only, all_rules, no_fusion_rules, no_allowlist, knapsack };
std::string_view message(Stage stage);

// A value that the last cut may not recompute: the knapsack decides whether to save it.
struct KnapsackItem {
  NodeId node;
  std::int64_t bytes = 0;
  double runtime = 0;  // of recomputing it, by the options' estimator
  bool save = false;
};

struct SavedValues {
  std::vector<NodeId> saved;  // in the graph's order, inputs among them
  std::vector<Ban> bans;      // by position, of the cut that met the budget; empty without one
  Stage stage = Stage::all_rules;
  std::vector<KnapsackItem> candidates;  // largest first; empty unless the knapsack ran
};

// The exact solver gave up.
struct KnapsackTooHard {
  std::size_t candidates = 0;
};

using SavedValuesOrFault = std::variant<SavedValues, InfiniteCut, KnapsackTooHard>;

// `budget`, 0 … 1: 0 saves only inputs, 1 saves the cut with all rules that are on; fractions
// interpolate the bytes of these two. The rates price runs for estimator `profile`.
SavedValuesOrFault choose_saved_values(const Analysis& analysis, double budget,
                                       const DeviceRates& rates = {});

}  // namespace recut::torch
