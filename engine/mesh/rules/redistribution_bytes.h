// Bytes that a rank sends to give a tensor another placement on one axis, by a ring.
#pragma once

#include <cstdint>

#include "engine/ir/type.h"
#include "engine/mesh/placement.h"

namespace recut::mesh {

// Of the rank that sends most. `type` is the tensor whole on this axis.
std::int64_t redistribution_bytes(const TensorType& type, Placement from, Placement to,
                                  std::int64_t ranks);

}  // namespace recut::mesh
