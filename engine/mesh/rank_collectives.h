// The meaning of collectives (engine/ir/operators/collectives.def): functions over the tensors of
// all ranks of a group.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/eval/tensor.h"
#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut::mesh {

// One rank's call: a collective of its graph, and the values of the call's tensors in their order.
struct RankCall {
  std::int64_t rank = 0;
  const Graph* graph = nullptr;
  NodeId node;
  std::vector<Tensor> inputs;
};

// The outputs of each member, contiguous. Members are in the group's order, by which reductions,
// parts and a broadcast's source count. Fails where the calls don't fit each other or the group:
// the message names a rank and its node, the value and the expected one.
Result<std::vector<std::vector<Tensor>>> run_collective(std::span<const RankCall> members);

// "rank 2, node 'grad'"
std::string place_of(const RankCall& call);

}  // namespace recut::mesh
