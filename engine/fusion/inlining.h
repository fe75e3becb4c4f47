// Recomputation that costs no kernel: kernels of backward inline element-wise calls of forward,
// made from values that they read anyway. Min-cut partitioners call it recomputing fusible
// operators, fusing compilers producer inlining.
//
//   forward   %h = mul(%x, 0.5), %t = tanh(%x), %y = mul(%h, add(%t, 1))
//   backward  one kernel reads the gradient, %h, %t and %x; with mul inlined, %h is no longer read,
//             nor saved for it
//
// A value that only one such kernel reads moves into the kernel, which then reads its operands:
//
//   backward  %d = sub(1, mul(%t, %t)), read by one kernel: it reads %t instead
#pragma once

#include <span>

#include "engine/fusion/group_set.h"

namespace recut {

// Replaces the inlined calls of each group that needs a tangent, so that it reads no more bytes and
// less is saved for it:
//   - cheap calls of forward, or of the part needed by backward only (arithmetic, comparisons,
//     conversions), made from values that the group reads in any case, or from inputs;
//   - calls of the part needed by backward only that no other kernel reads, made from operands of
//     no more bytes. No plan loses by it, since their operands may be saved in their stead. They
//     still run once, and need not be cheap if the group's loops visit each element once.
// Calls in `standalone` are never inlined.
void inline_cheap_calls(GroupSet& groups, std::span<const NodeId> standalone);

}  // namespace recut
