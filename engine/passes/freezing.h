// Freezing: passes for inference, which treat parameters as constants. They are a stage of their
// own, since they are invalid for training (PyTorch's freezing).
#pragma once

#include <span>

#include "engine/eval/evaluator.h"
#include "engine/ir/graph.h"
#include "engine/passes/pass.h"
#include "engine/support/result.h"

namespace recut {

// The passes of this stage alone, in order.
std::span<const Pass> freezing_passes();

// A graph with the values of its parameters and constants.
struct Frozen {
  Graph graph;
  Inputs values;  // by parameter and constant
};

// Constant folding with the interpreter: nodes that depend only on parameters and constants with a
// value become constants, under their names. Parameters without other users are removed. Random
// operators stay. Fails if the interpreter does.
Result<Frozen> fold_frozen(const Graph& graph, const Inputs& values);

}  // namespace recut
