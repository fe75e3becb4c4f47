// What a step takes where nothing is planned: the mark that budgets in percent and plans are held
// against.
#pragma once

#include <cstdint>

#include "engine/cost/device.h"
#include "engine/fusion/fusion_groups.h"
#include "engine/ir/storage_model.h"
#include "engine/support/result.h"

namespace recut {

struct Unplanned {
  std::int64_t peak_bytes = 0;
  double step_us = 0;
};

// The graph's program run as it was written (Graph::program), every storage freed after its last
// use. Graphs of PyTorch write cheap calls of forward again in backward, where interning makes them
// one: the program peaks lower and takes longer than one run of every node.
Unplanned unplanned_step(const Graph& graph, const DeviceRates& rates = {});

// The same in the fused model: every kernel once, in the graph's order.
Result<Unplanned> unplanned_step(const Graph& graph, const StorageModel& storages,
                                 const FusionGroups& groups, const DeviceRates& rates);

}  // namespace recut
