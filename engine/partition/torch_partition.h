// What a file says of PyTorch's own choice, as a plan.
#pragma once

#include "engine/input/graph_file.h"
#include "engine/ir/plan.h"

namespace recut {

// The plan that keeps what PyTorch kept. `graph` is the file's `joint_after_passes`, as it is
// there: names that it lacks are passed over.
Plan plan_of(const Graph& graph, const TorchPartition& partition);

}  // namespace recut
