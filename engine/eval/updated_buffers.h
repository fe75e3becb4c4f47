// Detects buffers that a recorded step updated in place.
//
// A module's buffer (batch norm's running mean) is an input and, updated, a result. A file recorded
// after an in-place update holds the value *after* the step under both names. The original input is
// lost, and this result can't be checked.
#pragma once

#include <optional>

#include "engine/eval/evaluator.h"

namespace recut {

// The input whose value in the file is already the updated one, if `output` is such a result. This
// is an input without a gradient that `output` depends on, and whose value equals the expected
// `output` bit by bit.
std::optional<NodeId> updated_buffer(const Graph& graph, const Inputs& inputs, NodeId output,
                                     const Tensor& expected);

}  // namespace recut
