// What a kernel reads from memory and writes to it.
#pragma once

#include <cstdint>
#include <span>

#include "engine/fusion/fusion_groups.h"

namespace recut {

// Bytes of one run of the kernel that `calls` are, as kernel_micros prices them: what stays inside
// moves nothing, and in the fused model each value from outside is read once, however many views of
// it there are, and no more of it than there is.
std::int64_t kernel_traffic(const Graph& graph, const StorageModel& storages,
                            const FusionGroups& groups, std::span<const NodeId> calls);

}  // namespace recut
