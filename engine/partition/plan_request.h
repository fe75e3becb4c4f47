// The input and output of a planner: budgets, overrides, search limits; a plan and its proof.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/cost/device.h"
#include "engine/fusion/fusion_groups.h"
#include "engine/ir/graph.h"
#include "engine/ir/plan.h"
#include "engine/partition/overrides.h"
#include "engine/partition/torch_options.h"

namespace recut {

// The budget of a plan. PyTorch's budget is a fraction of the bytes that its own plan without a
// budget saves; a bound on the peak is in bytes.
struct NoBudget {};
struct SavedFraction {
  double value = 1;  // 0 … 1
};
struct PeakBytes {
  std::int64_t value = 0;
};
using Budget = std::variant<NoBudget, SavedFraction, PeakBytes>;

// The limits of a search. Strategies that don't search ignore them.
struct SearchLimits {
  double effort = 1;   // a multiple of the strategy's default effort; the same effort gives the
                       // same plan on every machine
  double seconds = 0;  // of wall-clock time; 0: no limit
  std::uint64_t seed = 1;
  std::function<void(double recompute_us)> on_better;  // a better plan within the budget was found
  const std::atomic<bool>* cancel = nullptr;           // ends the search early, with its best plan
  std::function<bool()> stop;                          // the same, polled on the searching thread
};

struct PlanRequest {
  std::string strategy = "peak";
  Budget budget;
  DeviceRates rates;
  Overrides overrides;
  SearchLimits limits;
  FusionGroups groups;  // empty: the eager model
  // Strategy 'peak' rounds storage sizes up to multiples of this; budget, peak and proof are then
  // of the rounded sizes.
  std::int64_t alignment = 1;
  TorchOptions torch;  // of strategy 'torch' alone
};

// A remark on one node: why it has to be saved, or may not be recomputed.
struct NodeRemark {
  NodeId node;
  std::string_view message;
};

// The proved distance of a plan from the optimum. The bounds hold for every order, with any
// recomputation, under the same overrides.
struct PeakProof {
  bool holds = true;                  // the plan's peak is within the budget
  std::int64_t min_peak_bytes = 0;    // where it isn't: the lowest peak found, by this plan
  std::int64_t peak_bound_bytes = 0;  // no order peaks below it
  double recompute_bound_us = 0;      // no order within the budget recomputes for less
  bool optimal = false;               // one of the two bounds is reached
  bool short_search = false;          // a quick search only: the budget is proved to be too small
};

struct PlanOutcome {
  Plan plan;
  std::vector<std::string> remarks;      // how the plan was found, for users
  std::vector<NodeRemark> node_remarks;  // in the graph's order
  std::optional<PeakProof> proof;        // of a strategy that bounds the peak
};

}  // namespace recut
