// Makes a failing graph small (delta debugging in the manner of Zeller's ddmin, and of PyTorch's
// fx minifier in what it tries).
#pragma once

#include <functional>

#include "engine/ir/graph.h"

namespace recut::test {

using Fails = std::function<bool(const Graph&)>;

// The smallest graph found for which `fails` still holds; it holds for `graph`. Tries, until
// nothing helps: to drop an output, to replace a node by an operand or by an input of its type, to
// make dimensions shorter, to drop unused inputs.
Graph shrink(const Graph& graph, const Fails& fails);

}  // namespace recut::test
