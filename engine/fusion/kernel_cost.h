// The cost of a kernel: the time of one run in microseconds, measured or modelled.
#pragma once

#include <span>

#include "engine/cost/cost.h"
#include "engine/cost/device.h"
#include "engine/fusion/fusion_groups.h"

namespace recut {

// Microseconds of one run of a kernel. `calls` are all calls of a group, or one call alone. In the
// fused model a kernel reads each value once, however many views of it it has, and at most all of
// it.
double kernel_micros(const Graph& graph, const StorageModel& storages, const FusionGroups& groups,
                     std::span<const NodeId> calls, const DeviceRates& rates);

// The modelled kernel, which gives the cost of a kernel that was not measured.
ModelledKernel modelled_kernel(const Graph& graph, const StorageModel& storages,
                               const FusionGroups& groups, std::span<const NodeId> calls,
                               const DeviceRates& rates);

}  // namespace recut
