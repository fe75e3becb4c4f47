// A call whose indices may name elements of another rank's shard. Indices are shifted to the rank's
// own shard, and elements of others are zeroed.
#pragma once

#include <vector>

#include "engine/eval/tensor.h"
#include "engine/mesh/rules/local_call.h"

namespace recut::mesh {

// Shifts the indices of a masked factor to a rank's shard, and zeroes the elements of the operand
// that the factor names. An index that an attribute `padding_idx` excludes counts as another
// rank's. Returns for each index whether it is the rank's.
std::vector<bool> localize_indices(const Call& call, const ShardingRule& rule, const Factor& factor,
                                   std::vector<Argument>& arguments,
                                   std::vector<std::vector<Tensor>>& pieces, AxisRank at);

// Zeroes the elements of a result, or an operand, whose index is another rank's.
void zero_misses(const std::vector<bool>& taken, const ShardingRule& rule, std::size_t indices,
                 bool result, std::size_t tensor, Tensor& values);

}  // namespace recut::mesh
