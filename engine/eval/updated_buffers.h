// Buffers that a step updates in place, in files that were written after the step.
//
// A module's buffer (batch normalisation's running mean) comes in as an input and goes out as a
// result. Where a file was recorded from a run that updated the buffer in place, it holds the value
// *after* the step under both names: the input that led to the result is gone, so that this result
// can't be checked against anything.
#pragma once

#include <optional>

#include "engine/eval/evaluator.h"

namespace recut {

// The input of which the file gives only the updated value, if `output` is such a result: an input
// that needs no gradient, that `output` is computed from, and whose given value is bit by bit the
// one expected of `output`.
std::optional<NodeId> updated_buffer(const Graph& graph, const Inputs& inputs, NodeId output,
                                     const Tensor& expected);

}  // namespace recut
