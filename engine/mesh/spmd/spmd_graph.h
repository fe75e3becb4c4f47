// The graph of one rank: the whole graph's calls on its own parts, and the collectives between them
// (GSPMD: Xu et al. 2021, and DTensor).
#pragma once

#include <cstdint>

#include "engine/ir/graph.h"
#include "engine/mesh/distributed_module.h"
#include "engine/mesh/group_table.h"
#include "engine/mesh/spmd/sharded_graph.h"
#include "engine/support/result.h"

namespace recut::mesh {

struct SpmdGraph {
  Graph graph;
  GroupTable groups;  // that its collectives name
};

// The graph of the rank at a position of the mesh. Inputs, results and gradients are those of the
// whole graph, with the shapes of the rank's parts. All ranks make the same calls in the same order;
// they differ in offsets, and in sizes where a dimension isn't cut evenly. Values equal those of the
// whole graph, random numbers too: their call is computed whole, and each rank takes its part. Fails
// where a part doesn't fit a call that addresses storage.
//
// The rank at 0 has the largest part of every value. Its peak bounds that of the others, unless two
// parts of a value that begin at 0 are equal there: they are one node, and two on other ranks.
Result<SpmdGraph> spmd_graph(const DistributedModule& module, const ShardedGraph& sharded,
                             std::int64_t position);

}  // namespace recut::mesh
