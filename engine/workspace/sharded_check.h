// Proves a graph over a mesh: the values of all ranks against those of the whole graph.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/eval/compare.h"
#include "engine/input/safetensors.h"
#include "engine/ir/graph.h"
#include "engine/support/result.h"
#include "engine/workspace/mesh_request.h"

namespace recut {

struct ShardedCheck {
  std::int64_t ranks = 1;
  std::vector<std::int64_t> peak_bytes;   // of the interpreter in program order, by position
  std::vector<OutputComparison> outputs;  // gathered from all ranks, with the whole graph's

  bool ok() const { return all_ok(outputs); }
};

// Evaluates the whole graph, and the graphs of all ranks in lockstep on their parts of its inputs,
// with f64 for f32: rounding then hides no fault; values of 16 and 8 bits stay and allow more. Inputs without a tensor are drawn by `seed`; unset,
// they are errors. Fails as shard_graph() and the interpreter do.
Result<ShardedCheck> check_sharded(const Graph& graph, const MeshRequest& request,
                                   std::span<const NamedTensor> tensors,
                                   std::optional<std::uint64_t> seed);

std::string sharded_check_text(const ShardedCheck& check);
std::string sharded_check_json(const ShardedCheck& check);

}  // namespace recut
