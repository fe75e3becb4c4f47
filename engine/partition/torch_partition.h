// The partition that PyTorch chose and a file recorded, as a plan.
#pragma once

#include "engine/input/graph_file.h"
#include "engine/ir/plan.h"

namespace recut {

// The plan that saves what PyTorch saved. `graph` is the file's unchanged `joint_after_passes`;
// names that it lacks are ignored.
Plan plan_of(const Graph& graph, const TorchPartition& partition);

}  // namespace recut
