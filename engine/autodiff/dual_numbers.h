// Gives the calls that make and unpack dual numbers (engine/ir/dual_call.h) their meaning: plain
// calls of primals and tangents, by the rules of forward mode.
#pragma once

#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut {

// The graph without such calls. Tangents are those of `jvp`, from the tangents of made dual numbers
// instead of inputs. A result that is a dual number becomes its primal; its tangent is a further
// result, and the graph's signature tells the two. Fails on calls that don't fit, on a dual number
// that gets a second tangent at one level, on a gradient that is one, and on operators without a
// derivative.
//
// Levels are independent: a call at one level takes its operands as they are at all others, and the
// tangent of a tangent is the second derivative.
Result<Graph> expand_dual_numbers(const Graph& graph);

}  // namespace recut
