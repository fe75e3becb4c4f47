// What is asked of a planner and what comes back: budgets, limits of a search, a plan and its
// proof.
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
#include "engine/partition/pins.h"

namespace recut {

// How much a plan may keep. PyTorch's budget is a fraction of the bytes that its own plan without a
// budget saves; a bound on the peak is in bytes.
struct NoBudget {};
struct SavedFraction {
  double value = 1;  // 0 … 1
};
struct PeakBytes {
  std::int64_t value = 0;
};
using Budget = std::variant<NoBudget, SavedFraction, PeakBytes>;

// What a search may spend. Strategies that don't search have no use for it.
struct SearchLimits {
  double effort = 1;  // as a multiple of what the strategy thinks enough; the same effort gives the
                      // same plan on every machine
  double seconds = 0;  // of wall-clock time; 0: no limit
  std::uint64_t seed = 1;
  std::function<void(double recompute_us)> on_better;  // a better plan that holds was found
  const std::atomic<bool>* cancel = nullptr;           // ends the search early, with what it has
  std::function<bool()> stop;  // the same, asked over and over on the searching thread
};

struct PlanRequest {
  std::string strategy = "peak";
  Budget budget;
  DeviceRates rates;
  Pins pins;
  SearchLimits limits;
  FusionGroups groups;  // none: the eager model
  // Bytes of which storages take up multiples: strategy 'peak' then holds that sum, and proves of
  // it.
  std::int64_t alignment = 1;
};

// Something to say about one node: why it has to be saved, or may not be recomputed.
struct NodeRemark {
  NodeId node;
  std::string_view words;
};

// What is known of a plan beside the best that there can be. Of any order whatever, recomputation
// included, under the same pins.
struct PeakProof {
  bool holds = true;                  // the plan's peak is within the budget
  std::int64_t least_peak_bytes = 0;  // where it isn't: the least that was reached, by this plan
  std::int64_t peak_bound_bytes = 0;  // no order peaks below it
  double recompute_bound_us = 0;      // no order within the budget recomputes for less
  bool optimal = false;               // one of the two is reached
  bool short_search = false;          // for the least peak, as the budget is proved to be too small
};

struct PlanOutcome {
  Plan plan;
  std::vector<std::string> remarks;      // how the plan was found, for people
  std::vector<NodeRemark> node_remarks;  // in the graph's order
  std::optional<PeakProof> proof;        // of a strategy that bounds the peak
};

}  // namespace recut
