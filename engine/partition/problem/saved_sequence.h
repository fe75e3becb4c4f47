// From a set of saved values to a plan whose kernels run whole: plan_from_saved (execution.h) in
// the fused model.
#pragma once

#include <vector>

#include "engine/fusion/fusion_groups.h"
#include "engine/ir/graph.h"
#include "engine/ir/plan.h"
#include "engine/ir/storage_model.h"

namespace recut {

// Keeps those values of `wanted` that leave their kernel and that backward reads. A kernel of
// forward whose other values backward reads runs again, just before their first reader there; the
// values of one that may run only once, as a random draw, are kept. A value inside a kernel takes
// no memory and can't be kept.
Plan plan_from_saved(const Graph& graph, const StorageModel& storages, const FusionGroups& groups,
                     const std::vector<NodeId>& wanted);

}  // namespace recut
