// Where the kernels of a plan begin and end.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/fusion/fusion_groups.h"
#include "engine/ir/plan.h"
#include "engine/support/result.h"

namespace recut {

// Steps, both included; of a call that is in no group the step itself.
struct KernelRun {
  std::size_t first = 0, last = 0;
};

// By step of the plan, forward, then backward. A group's calls, the inlined ones first, have to
// stand in their order, all of them, with nothing but views between: fails where they don't, and
// where a value is saved that never leaves its kernel.
Result<std::vector<KernelRun>> kernel_runs(const Graph& graph, const StorageModel& storages,
                                           const FusionGroups& groups, const Plan& plan);

}  // namespace recut
