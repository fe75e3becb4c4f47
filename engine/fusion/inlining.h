// Recomputation that costs no kernel: kernels that need a tangent compute element-wise calls that
// don't for themselves, from what they read anyway (what min-cut partitioners call recomputing
// fusible operators, and fusing compilers inlining producers).
//
//   forward   %h = mul(%x, 0.5), %t = tanh(%x), %y = mul(%h, add(%t, 1))
//   backward  one kernel reads the gradient, %h, %t and %x; with mul inlined, %h is no longer read,
//             nor kept for it
//
// And what only one such kernel reads moves into it, with what it is made from as what is read:
//
//   backward  %d = sub(1, mul(%t, %t)), read by one kernel: it reads %t instead
#pragma once

#include <span>

#include "engine/fusion/group_set.h"

namespace recut {

// Gives each group that needs a tangent, in place of those it had, the calls to compute again for
// itself, so that it reads no more bytes and less is kept for it:
//   - of forward, and between forward and it, those that are cheap (arithmetic, comparisons,
//     conversions) and made from values that the group reads in any case, or from inputs;
//   - between forward and it, those that nobody else reads, made from whatever takes no more bytes:
//     no plan loses by it, as what they are made from may be kept where they were. They run once
//     as before, and needn't be cheap where the group's loops meet each element of theirs once.
// Not of the calls in `apart`, whose values somebody wants where they are.
void inline_cheap_calls(GroupSet& groups, std::span<const NodeId> apart);

}  // namespace recut
