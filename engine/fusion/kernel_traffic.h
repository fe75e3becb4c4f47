// The memory traffic of a kernel.
#pragma once

#include <cstdint>
#include <span>

#include "engine/fusion/fusion_groups.h"

namespace recut {

// Bytes read and written by one run of the kernel of `calls`, as kernel_micros counts them. Inner
// values move nothing. In the fused model each value is read once, however many views of it there
// are, and at most all of it.
std::int64_t kernel_traffic(const Graph& graph, const StorageModel& storages,
                            const FusionGroups& groups, std::span<const NodeId> calls);

}  // namespace recut
