// Conversions that autocast makes of a call's operands without a node for them.
#pragma once

#include <vector>

#include "engine/ir/argument.h"
#include "engine/ir/call.h"
#include "engine/ir/graph.h"
#include "engine/ir/operator.h"

namespace recut {

// Converts floating operands of a call in an autocast region to `recorded`, the dtype of its first
// result, where the call doesn't give that dtype of its operands as they are. `op` is a row of the
// operator table, or of a composite, which has no shape rule. New nodes have the origin's module.
void convert_for_autocast(Graph& graph, const Operator& op, bool composite, DType recorded,
                          const Origin& origin, std::vector<Argument>& arguments);

}  // namespace recut
