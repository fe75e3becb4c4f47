// From a set of saved values to a plan: which nodes run, and in which order. PyTorch does the same
// in _extract_fwd_bwd_modules. Cost: O(nodes + edges), once more for each round that adds random
// calls to the saved values.
#pragma once

#include <vector>

#include "engine/input/graph_file.h"
#include "engine/ir/graph.h"
#include "engine/ir/plan.h"

namespace recut {

// The plan that keeps `requested` between forward and backward.
//
//   forward   calls that the results and the saved values need, in the graph's order
//   backward  calls that the gradients need beyond the saved values: nodes that need a tangent in
//             the graph's order, each recomputed node just before its first use
//   saved     of `requested` the calls that backward reads, and every random call that both passes
//             need: it can't run again
//
// `requested` names nodes that need no tangent.
Plan plan_from_saved(const Graph& graph, const std::vector<NodeId>& requested);

// The plan that saves the same values as PyTorch's partitioner, as a file recorded them. `graph` is
// the file's unchanged `joint_after_passes`; names that it lacks are ignored.
Plan plan_of(const Graph& graph, const TorchPartition& partition);

}  // namespace recut
