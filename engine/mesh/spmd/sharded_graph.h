// A graph over a mesh, all decided: the sharding of every operand and output, and the changes from
// one sharding to another between them.
#pragma once

#include <map>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/mesh/distributed_module.h"
#include "engine/mesh/redistribute.h"
#include "engine/mesh/rules/propagate.h"

namespace recut::mesh {

struct CallShardings {
  std::vector<Sharding> operands;  // as the call needs them, by operand_nodes
  std::vector<Sharding> results;   // as it produces them
  std::vector<int> factors;        // by axis: that the axis is given to, -1: none
};

// A value gets a further sharding, beside the earlier ones.
struct ShardingChange {
  ValueKey value;
  RedistributionPlan plan;
};

struct ShardedGraph {
  std::map<NodeId, CallShardings> calls;  // inputs have one result

  // Changes of operands before the call that needs them, and of outputs after the call that makes
  // them, so that an output that is done is sent while others are computed. Calls without a change
  // have no entry.
  std::map<NodeId, std::vector<ShardingChange>> before, after;

  // Shardings of the graph's results, and of its gradients by their position (one for each, also
  // where the graph has none).
  std::vector<Sharding> results, gradients;
};

// Fails on a graph with collectives: it is one rank's part already.
Result<Done> check_whole(const Graph& graph);

// Chooses the placements of every call by traffic (propagate.h), and changes each value from the
// form that costs least. Results end as the module places them, and gradients as their parameters
// are placed. Fails on a graph with collectives, and on an order of axes that isn't the mesh's:
// calls are placed axis by axis.
Result<ShardedGraph> shard(const DistributedModule& module);

}  // namespace recut::mesh
