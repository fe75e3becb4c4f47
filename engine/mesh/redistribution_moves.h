// The steps that lead from a sharding to others, and the bytes that they send.
#pragma once

#include <vector>

#include "engine/mesh/redistribute.h"

namespace recut::mesh {

// Steps from `from` that may be of use on the way to `to`: partial kinds are made only where the
// target has them. Both shardings have no axes of size 1. The order is the same on every platform.
std::vector<RedistributionStep> steps_from(const Sharding& from, const Sharding& to,
                                           const TensorType& type, const DeviceMesh& mesh);

// A message of a reorder, by positions: `part` of the dimension goes from one rank to another, or
// stays where both are equal.
struct ReorderMessage {
  std::int64_t sender = 0, receiver = 0;
  Interval part;
};

// All messages of one group: the positions that `first` and it differ from in the coordinates of
// the dimension's axes alone, with 0 for these in `first`.
std::vector<ReorderMessage> reorder_messages(std::int64_t size, const std::vector<int>& before,
                                             const std::vector<int>& after, const DeviceMesh& mesh,
                                             const Coordinate& first);

// The coordinates of the ranks that are first in their group of some axes.
std::vector<Coordinate> first_coordinates(const std::vector<int>& axes, const DeviceMesh& mesh);

}  // namespace recut::mesh
