// Recomputation that costs no kernel: kernels that need a tangent compute element-wise calls that
// don't for themselves, from what they read anyway (what min-cut partitioners call recomputing
// fusible operators, and fusing compilers inlining producers).
//
//   forward   %h = mul(%x, 0.5), %t = tanh(%x), %y = mul(%h, add(%t, 1))
//   backward  one kernel reads the gradient, %h, %t and %x; with mul inlined, %h is no longer read,
//             nor kept for it
#pragma once

#include <span>

#include "engine/partition/fusion/group_set.h"

namespace recut {

// Gives each group that needs a tangent the calls of forward, and those between forward and it,
// that are cheap to compute again (arithmetic, comparisons, conversions) from values that the group
// reads in any case, or from inputs. It reads no more bytes then, and less is kept for it. Not of
// the calls in `apart`, whose values somebody wants where they are.
void inline_cheap_calls(GroupSet& groups, std::span<const NodeId> apart);

}  // namespace recut
