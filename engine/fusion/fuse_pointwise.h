// Builds FusionGroups as a fusing compiler does: groups of element-wise calls that run as one
// kernel.
//
//   %a = exp(%x)        one kernel reads x and writes b;
//   %b = mul(%a, %y)    a never reaches memory
//
// A group has element-wise calls and casts, the constants that they read, and any views between
// them; reductions may end it. If all reductions read by its calls reduce the same rows, which are
// contiguous and enough for all threads, the group continues after them, row by row
// (row_fusion.h). A producer joins its consumer if it has no other reader, or if both
// run over as many elements or rows: its value is then written as well, but not read back. After
// that, kernels join that read the same value in the same loops (horizontal_fusion.h). Last,
// kernels of backward inline cheap calls (inlining.h).
//
// Joins that would make plans worse are refused:
//   - calls of different parts: needed by results, needed by backward only, or needing a tangent;
//   - a result with a value that others read: the result runs once, the value may run again;
//   - a random draw with its readers: if the draw cannot run again, the mask made from it must be a
//     value that can be saved instead;
//   - a group with more bytes alive at once than the largest call alone, plus a slack; after a
//     reduction, more than the larger of both parts;
//   - outside backward, elements that other kernels read with calls made from them and from
//     reductions of them, which can be recomputed from those elements alone.
#pragma once

#include <cstdint>
#include <span>

#include "engine/fusion/fusion_groups.h"

namespace recut {

// The extent of kernels. Larger kernels take less time and mostly hold more at once: the minimum
// peak of a plan may be lower with chains.
enum class Fusion : std::uint8_t {
  none,    // one call a kernel
  chains,  // a reduction ends its kernel; groups join in one pass over the graph
  rows,    // all of the above
};
const char* name_of(Fusion fusion);

// `standalone` are calls that no kernel but their own computes.
FusionGroups fuse_pointwise(const Graph& graph, const StorageModel& storages,
                            Fusion fusion = Fusion::rows, std::span<const NodeId> standalone = {});

}  // namespace recut
