// A rank's part of a call: shapes and attributes of its shards.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/mesh/rules/sharding_rule.h"
#include "engine/mesh/sharding.h"

namespace recut::mesh {

// One rank of an axis.
struct AxisRank {
  std::int64_t ranks = 1, rank = 0;
};

// The part of a dimension that a rank has.
inline Interval axis_part(std::int64_t length, AxisRank at) {
  return chunk(length, at.ranks, at.rank);
}

Shape part_shape(const Shape& shape, Placement placement, AxisRank at);

// A rank's part of a call along all axes of a mesh.
struct RankCallPart {
  std::vector<Shape> operands, results;  // shapes of its shards
  std::vector<Interval> factors;         // the part of each of the rule's factors
};

RankCallPart rank_part(const ShardingRule& rule, const Strategy& strategy, AxisRank at);

// The call's arguments with the sizes of a rank's shards. Operands stay the call's own.
std::vector<Argument> local_arguments(const Call& call, const ShardingRule& rule,
                                      const RankCallPart& part);

}  // namespace recut::mesh
