// What a kernel costs: the time of one run, in microseconds, as measured or as the model has it.
#pragma once

#include <span>

#include "engine/cost/cost.h"
#include "engine/cost/device.h"
#include "engine/fusion/fusion_groups.h"

namespace recut {

// Microseconds of one run of the kernel that `calls` are: all of a group's, or a call that is
// alone. In the fused model a kernel reads each value from outside once, however many views of it
// it has, and no more of it than there is.
double kernel_micros(const Graph& graph, const StorageModel& storages, const FusionGroups& groups,
                     std::span<const NodeId> calls, const DeviceRates& rates);

// What the model has of such a kernel, which the price of one that nobody measured is made of.
ModelledKernel modelled_kernel(const Graph& graph, const StorageModel& storages,
                               const FusionGroups& groups, std::span<const NodeId> calls,
                               const DeviceRates& rates);

}  // namespace recut
