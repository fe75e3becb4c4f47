// The runs of a plan's order that are one kernel each.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/fusion/fusion_groups.h"
#include "engine/ir/plan.h"
#include "engine/support/result.h"

namespace recut {

// The first and last step of a kernel; for a call in no group both are its step.
struct KernelRun {
  std::size_t first = 0, last = 0;
};

// The run that each step of the plan belongs to, forward, then backward. All calls of a group, the
// inlined ones first, must follow each other in order, with only views between. Fails if they do
// not, and if a saved value never leaves its kernel.
Result<std::vector<KernelRun>> kernel_runs(const Graph& graph, const StorageModel& storages,
                                           const FusionGroups& groups, const Plan& plan);

}  // namespace recut
