// Partitioned graphs: the forward and the backward graph of a plan, for a compiler to generate code
// from each (as AOTAutograd's fw_module and bw_module).
#pragma once

#include "engine/ir/graph.h"
#include "engine/ir/plan.h"

namespace recut {

// Both are on the pool of the planned graph and keep its names.
//
//   forward   takes the parameters and inputs; returns the results, then the saved values
//   backward  takes the parameters and inputs that it reads, the tangents and the saved values, all
//             as inputs; returns the valid gradients, in order
//
// For a saved call with several outputs, the outputs that backward reads are saved. A recomputed
// node is in both graphs, once in each; the plan decides when it runs.
struct PartitionedGraphs {
  Graph forward;
  Graph backward;
};

// The plan must be executable (engine/partition/replay.h).
PartitionedGraphs partition_graphs(const Graph& graph, const Plan& plan);

}  // namespace recut
