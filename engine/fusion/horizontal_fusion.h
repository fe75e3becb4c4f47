// Horizontal fusion: independent kernels that read the same value in the same loops become one,
// which reads it once (XLA's multi-output fusion; Inductor fuses nodes with shared reads).
//
//   %b = sum(%g, [0])                  the gradients of a bias and of a scale
//   %s = sum(mul(%g, %x), [0])         read %g in the same loops over its columns
#pragma once

#include "engine/fusion/group_set.h"

namespace recut {

// Two groups join if both run over all elements of a value that both read, in loops that they can
// share: they write elements of one layout, or reduce the same rows, or one reduces contiguous rows
// and the other writes their elements. Neither may have a call whose value is, through views, a
// result of the graph (GroupSet::has_result). The joined footprint may not exceed the larger one
// (GroupSet::within_larger_footprint), and the inputs of the later group must exist when the
// earlier one runs.
void fuse_horizontally(GroupSet& groups);

}  // namespace recut
