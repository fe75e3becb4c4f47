// The baseline: peak and time of the step as PyTorch eager would run it without a plan. Budgets in
// percent are fractions of its peak, and reports compare plans with it.
#pragma once

#include <cstdint>

#include "engine/cost/device.h"
#include "engine/fusion/fusion_groups.h"
#include "engine/ir/storage_model.h"
#include "engine/partition/replay.h"
#include "engine/support/result.h"

namespace recut {

struct BaselineCost {
  std::int64_t peak_bytes = 0;
  double step_us = 0;
};

// Runs the graph's program as it was written (Graph::program) and frees every storage after its
// last use. PyTorch's graphs repeat cheap calls of forward in backward, and interning makes them
// one node: the program peaks lower and takes longer than one run of every node. A call that runs
// again is a recomputation. Needs bytes that pass check_total_bytes.
Replay replay_program(const Graph& graph, const DeviceRates& rates = {});

// Peak and time of the same.
BaselineCost baseline_step(const Graph& graph, const DeviceRates& rates = {});

// The same in the fused model: every kernel runs once, in the graph's order.
Result<BaselineCost> baseline_step(const Graph& graph, const StorageModel& storages,
                                   const FusionGroups& groups, const DeviceRates& rates);

}  // namespace recut
