// The groups that a fusing compiler would make of element-wise calls: the first supplier of
// FusionGroups.
//
//   %a = exp(%x)        one kernel reads x and writes b;
//   %b = mul(%a, %y)    a never reaches memory
//
// A group is of calls whose elements depend on elements, casts among them, with any views between
// them, and of the constants that they read; reductions may end it. Where all reductions that its
// calls read fold the same rows, which lie together and are enough for all threads, it goes on
// after them, row by row (rows.h). A producer joins its consumer where nobody else reads it, or
// where both run over as many elements or rows: it is then written as well, but not read back.
// Then kernels join that read the same value in the same loops (siblings.h), and last backward's
// compute for themselves what is cheap (inlining.h).
//
// What makes plans worse than they have to be does not join:
//   - what results need, what only backward needs and what needs a tangent, with one another;
//   - a result and what others read: the result may run only once, the other need not;
//   - random draws, and what reads one: where a draw can't run again, the mask that is made of it
//     has to be a value that can be kept instead;
//   - what would have more bytes alive at once than the largest call alone has, but for a little;
//     where it goes on after a reduction, more than the larger of both parts;
//   - but for backward's own calls, elements that others read, too, and what is made of them and
//     of reductions of them: that can be computed again of those elements alone.
#pragma once

#include <cstdint>
#include <span>

#include "engine/fusion/fusion_groups.h"

namespace recut {

// How far kernels go. Larger ones take less time, and mostly hold more at once: the least peak that
// a plan can have may be lower with chains.
enum class Fusion : std::uint8_t {
  none,    // each call is one
  chains,  // a reduction ends its kernel, and groups join in one pass over the graph
  rows,    // all that is said above
};
const char* name_of(Fusion fusion);

// `apart` are calls that no other kernel than their own computes.
FusionGroups fuse_pointwise(const Graph& graph, const StorageModel& storages,
                            Fusion fusion = Fusion::rows, std::span<const NodeId> apart = {});

}  // namespace recut
