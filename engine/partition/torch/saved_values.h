// Which values PyTorch saves at a memory budget (torch/_functorch/partitioners.py,
// choose_saved_values_set).
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/partition/torch/cut.h"

namespace recut::torch {

// Who gave the answer: cuts with fewer and fewer rules, and at last a knapsack over what no cut may
// recompute.
enum class Stage : std::uint8_t { inputs_only, all_rules, no_fusion_rules, no_allowlist, knapsack };
std::string_view words(Stage stage);

// A value that the last cut may not recompute and the knapsack chose to save or not.
struct Candidate {
  NodeId node;
  std::int64_t bytes = 0;
  double flops = 0;
  bool save = false;
};

struct SavedValues {
  std::vector<NodeId> saved;  // in the graph's order, inputs among them
  std::vector<Ban> bans;      // by position, of the cut that gave the answer; empty without one
  Stage stage = Stage::all_rules;
  std::vector<Candidate> candidates;  // largest first; empty unless the knapsack ran
};

// `budget` is a fraction of the bytes between saving nothing but inputs (0) and what the cut with
// all rules saves (1); 0 … 1.
std::variant<SavedValues, Impossible> choose_saved_values(const Analysis& analysis, double budget);

}  // namespace recut::torch
