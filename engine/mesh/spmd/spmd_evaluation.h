// The values of a graph over a mesh: all ranks in one process, in lockstep.
#pragma once

#include <cstdint>
#include <optional>
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

// Distributes the values of all inputs, and evaluates the graph of every rank (spmd_graph.h,
// lockstep.h). `options` holds for each rank: random numbers are those of the whole graph. Fails as
// these do. The mesh has the ranks 0, 1, … in any order.
Result<SpmdEvaluation> evaluate_spmd(const DistributedModule& module, const ShardedGraph& sharded,
                                     const Inputs& inputs, const EvaluateOptions& options = {});

}  // namespace recut::mesh
