// Which placeholders of an fx-joint-graph are written, before its calls are read.
#pragma once

#include <cstddef>
#include <set>

#include "engine/input/joint_nodes.h"

namespace recut {

// The indices of placeholders that a call may write, itself or through views. A first operand counts
// as what a call's result may be a view of, so that there may be more than are really written.
std::set<std::size_t> written_placeholders(const JointNodes& nodes);

}  // namespace recut
