// From a set of saved values to a plan in the fused model, where kernels run whole. For the eager
// model see engine/partition/plan_from_saved.h.
#pragma once

#include <vector>

#include "engine/fusion/fusion_groups.h"
#include "engine/ir/graph.h"
#include "engine/ir/plan.h"
#include "engine/ir/storage_model.h"

namespace recut {

// Saves those values of `requested` that leave their kernel and that backward reads. A forward
// kernel whose other values backward reads runs again, just before their first reader there. A
// kernel that may run only once, such as a random one, has its values saved. A value inside a
// kernel takes no memory and can't be saved. Cost: O(kernels + reads).
Plan plan_from_saved(const Graph& graph, const StorageModel& storages, const FusionGroups& groups,
                     const std::vector<NodeId>& requested);

}  // namespace recut
