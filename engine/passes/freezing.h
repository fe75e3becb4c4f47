// Freezing: passes for inference, where parameters are as constant as constants. A stage of its
// own: they are never right for a graph that is trained.
#pragma once

#include <span>

#include "engine/eval/evaluator.h"
#include "engine/ir/graph.h"
#include "engine/passes/pass.h"
#include "engine/support/result.h"

namespace recut {

// The passes that no other stage has, in the order in which they run.
std::span<const Pass> freezing_passes();

// A graph with values for what it holds.
struct Frozen {
  Graph graph;
  Inputs values;  // of parameters and constants
};

// Computes what depends on nothing but parameters and constants that have a value, by the
// interpreter: it becomes constants of the graph, under the computed nodes' names. Parameters that
// nothing else needs are gone. Random numbers stay. Fails where the interpreter does.
Result<Frozen> fold_frozen(const Graph& graph, const Inputs& values);

}  // namespace recut
