// The dimensions of a reshape that share elements, so that a shard of one is a shard of the other.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/ir/type.h"

namespace recut::mesh {

// A part of a dimension: of `from`, of `to` (-1: not of it), or of both.
struct ReshapeFactor {
  std::int64_t size = 1;
  int from = -1, to = -1;
  bool operator==(const ReshapeFactor&) const = default;
};

// Walks both shapes from the major side and splits them by common divisors until they have none,
// then from the minor side; the rest belongs to one shape alone. Factors are in order from major to
// minor for each shape.
std::vector<ReshapeFactor> reshape_walk(const Shape& from, const Shape& to);

}  // namespace recut::mesh
