// Arguments of a call in an fx-joint-graph, in the order of the operator's schema.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/joint_nodes.h"
#include "engine/input/joint_values.h"
#include "engine/ir/graph.h"
#include "engine/ir/operator.h"

namespace recut {

// From `args` and `kwargs`; absent where the call leaves one out. None after an error, which is
// reported, or if an operand is a faulty node. Complex numbers become calls in the graph.
std::optional<std::vector<Argument>> read_joint_arguments(
    const Operator& op, const JointNode& node, Graph& graph, const FindNode& find_node,
    const std::function<void(const std::string&)>& report_error);

// The argument of a call for a parameter; absent where it leaves that out.
JsonValue argument_of(const Operator& op, const JointNode& node, std::string_view parameter);

// The name "x" in {"node": "x"}; "" for any other value.
std::string_view referenced_name(JsonValue value);

}  // namespace recut
