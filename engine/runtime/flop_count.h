// Counts floating-point operations, to compare rates with a device's ceilings.
#pragma once

#include <span>

#include "engine/cost/device.h"
#include "engine/ir/graph.h"

namespace recut {

struct Arithmetic {
  double flops = 0;
  double seconds = 0;  // at the ceilings' rates
};

// Matrix products, convolutions and attention count as in the planner (node_flops). Any other call
// on reals counts one operation for each element of its largest operand or result. Views, copies
// and constants count none.
Arithmetic arithmetic_of(const Graph& graph, std::span<const NodeId> calls,
                         const DeviceRates& ceilings);

}  // namespace recut
