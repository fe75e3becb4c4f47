// Writes in an fx-joint-graph: the placeholders that its calls write, before they are read, and the
// value of one write.
#pragma once

#include <cstddef>
#include <set>
#include <string_view>

#include "engine/input/joint_nodes.h"
#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut {

// The indices of placeholders that a call may write, itself or through views. The result of an
// operator that the table lacks counts as a view of its first operand, so the set may be too large,
// never too small.
std::set<std::size_t> written_placeholders(const JointNodes& nodes);

// A value in the dtype of the tensor that it is written to, which had the value `before`. Fails where
// its shape is another one.
Result<NodeId> as_written(Graph& graph, const JointNode& node, std::string_view tensor,
                          NodeId before, NodeId value);

}  // namespace recut
