// Finds the placeholders that an fx-joint-graph writes, before its calls are read.
#pragma once

#include <cstddef>
#include <set>

#include "engine/input/joint_nodes.h"

namespace recut {

// The indices of placeholders that a call may write, itself or through views. The result of an
// operator that the table lacks counts as a view of its first operand, so the set may be too large,
// never too small.
std::set<std::size_t> written_placeholders(const JointNodes& nodes);

}  // namespace recut
