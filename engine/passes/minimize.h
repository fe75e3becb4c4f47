// Test-case reduction: shrinks a graph while it fails a check.
#pragma once

#include <cstddef>

#include "engine/ir/graph.h"
#include "engine/passes/bisect.h"
#include "engine/support/result.h"

namespace recut {

struct Minimized {
  Graph graph;             // sound, and fails the check
  std::size_t checks = 0;  // the number of calls of the check
};

// Delta debugging. Removes results and gradients (their operands may become outputs instead),
// replaces calls by a constant or by an operand of their type, removes unread inputs, and halves
// dimensions, while the graph stays sound and the check fails. For each kind it tries large chunks, then halves of them
// down to single nodes, and repeats until no single step shrinks the graph. Fails if the check
// holds for `graph` itself or returns an error.
//
// After Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, IEEE Transactions
// on Software Engineering 28 (2002).
Result<Minimized> minimize(const Graph& graph, const GraphCheck& check);

}  // namespace recut
