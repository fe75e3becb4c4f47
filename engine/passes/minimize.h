// A small graph that still fails a check, made of a large one.
#pragma once

#include <cstddef>

#include "engine/ir/graph.h"
#include "engine/passes/bisect.h"
#include "engine/support/result.h"

namespace recut {

struct Minimized {
  Graph graph;             // sound, and fails the check
  std::size_t checks = 0;  // how often the check was asked
};

// Leaves out whatever the failure doesn't need, as long as the graph stays sound and the check
// fails: results and gradients, in whose place their operands may go out; calls, in whose place a
// constant of their type stands or an operand of that type; inputs that nothing reads. Of each kind
// first large parts, then halves of them, to single ones, and all over again until nothing more can
// go: no single step makes it smaller then. Fails where the check holds for `graph` itself, or
// can't be asked.
//
// After Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, IEEE Transactions
// on Software Engineering 28 (2002).
Result<Minimized> minimize(const Graph& graph, const GraphCheck& check);

}  // namespace recut
