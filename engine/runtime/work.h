// How much arithmetic calls do: for rates beside a machine's ceilings.
#pragma once

#include <span>

#include "engine/cost/device.h"
#include "engine/ir/graph.h"

namespace recut {

struct Arithmetic {
  double flops = 0;
  double seconds = 0;  // that it takes at the ceilings' rates
};

// Floating-point operations of matrix products, convolutions and attention as planners count them
// (node_flops); of all other calls on reals one for each element of the largest value that they
// read or make, whatever the operator. Views, copies and constants do none.
Arithmetic arithmetic_of(const Graph& graph, std::span<const NodeId> calls,
                         const DeviceRates& ceilings);

}  // namespace recut
