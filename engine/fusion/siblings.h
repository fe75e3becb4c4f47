// Horizontal fusion: kernels that read the same value in the same loops, and nothing of one
// another, become one that reads it once (what Inductor calls fusing nodes with shared reads, and
// XLA multi-output fusion).
//
//   %b = sum(%g, [0])                  the gradients of a bias and of a scale
//   %s = sum(mul(%g, %x), [0])         read %g in the same loops over its columns
#pragma once

#include "engine/fusion/group_set.h"

namespace recut {

// Two groups join where both run over all elements of a value that both read, in loops that they
// can share: they write elements of one layout, or fold the same rows, or one folds rows that lie
// together and the other writes their elements. Neither may have a result, hold more than both
// apart did (GroupSet::hold_no_more), or have to wait: what the later one reads is there when the
// earlier one runs.
void fuse_siblings(GroupSet& groups);

}  // namespace recut
