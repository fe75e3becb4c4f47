// The values of a graph over a mesh: all ranks in one process, in lockstep.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/mesh/distributed_module.h"
#include "engine/mesh/distributed_tensor.h"
#include "engine/mesh/spmd/sharded_graph.h"
#include "engine/support/result.h"

namespace recut::mesh {

struct SpmdEvaluation {
  // Results, then gradients; none where the graph has none.
  std::vector<std::optional<DistributedTensor>> outputs;
  std::vector<std::int64_t> peak_bytes;  // measured, by position in the mesh
};

// The inputs of the graph of the rank at a position: those of the whole graph by their names, with
// their parts of the values.
Inputs inputs_of_rank(const Graph& whole, const Graph& rank,
                      const std::map<NodeId, DistributedTensor>& values, std::int64_t position);

// The outputs of all ranks, by rank, as those of the whole graph; none where it has none.
std::vector<std::optional<DistributedTensor>> joined_outputs(
    const DistributedModule& module, const ShardedGraph& sharded,
    std::span<const std::vector<Tensor>> ranks);

// Distributes the values of all inputs, and evaluates the graph of every rank (spmd_graph.h,
// lockstep.h). `options` holds for each rank: random numbers are those of the whole graph. Fails as
// these do. The mesh has the ranks 0, 1, … in any order.
Result<SpmdEvaluation> evaluate_spmd(const DistributedModule& module, const ShardedGraph& sharded,
                                     const Inputs& inputs, const EvaluateOptions& options = {});

}  // namespace recut::mesh
