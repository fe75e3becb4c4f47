// Minimises a failing graph (delta debugging like Zeller's ddmin, with the moves of PyTorch's fx
// minifier).
#pragma once

#include <functional>

#include "engine/ir/graph.h"

namespace recut::test {

using Fails = std::function<bool(const Graph&)>;

// The smallest graph found for which `fails` still holds; it holds for `graph`. It repeats these
// moves until none helps: drop an output, replace a node by an operand or by an input of its type,
// shorten dimensions, drop unused inputs.
Graph shrink(const Graph& graph, const Fails& fails);

}  // namespace recut::test
