// Schedules: a plan's steps as kernels, and a place in one arena for everything that they make.
// The door of this room.
//
//   plan      %a = exp(%x) | %b = relu(%a) | %v = permute(%b) | %c = mm(%v, %w)
//   kernels   0: exp, relu                 | 1: permute       | 2: mm
//   buffers   b: kernels 0 to 2 at 0;  c: kernel 2 to the end at 4096;  a stays inside kernel 0
//
// The model of memory is replay's (engine/partition/replay.h), counted in kernels: a buffer is
// there from the start of the kernel that makes it to the end of the last kernel that reads it;
// results and gradients stay to the end; a workspace is there while its kernel runs. Inputs,
// parameters, tangents and constants are somebody else's and have no place in the arena.
//
// The budget bounds the arena, but for two things:
//   alignment      Every buffer starts at a multiple of it and so takes up to alignment - 1 bytes
//                  more than it has. The most bytes alive at once (`lower_bound_bytes`) are thus
//                  the plan's peak or more: by less than alignment times the buffers alive then,
//                  and by nothing where all sizes are multiples, as those of large tensors are.
//                  With an alignment of 1 the two are the same number.
//   fragmentation  A packing may be higher than what is alive at once. `gap_bytes` says by how
//                  much; for nearly all plans it is nothing.
// Who names a budget for the arena itself plans again where either is too much:
// engine/workspace/scheduling.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/ir/plan.h"
#include "engine/ir/storage_model.h"
#include "engine/partition/replay.h"

namespace recut {

// Calls that run as one: a fusion group, or one call. A view outside of groups is an entry of its
// own that does nothing: whoever reads it computes where its elements lie.
struct ScheduledKernel {
  std::vector<NodeId> calls;   // in order; of a group with the views that stand between
  std::size_t first_step = 0;  // of the plan, forward, then backward; as many steps as calls
  Phase phase = Phase::forward;
  bool again = false;  // ran before; never of a view, which does nothing
  bool launches = true;
};

// One instance of a storage, in its place.
struct Buffer {
  StorageId storage;
  NodeId owner;
  std::int64_t bytes = 0;
  std::uint32_t first_kernel = 0, last_kernel = 0;  // both included
  InstanceClass kind = InstanceClass::forward_temporary;
  bool workspace = false;
  std::int64_t offset = 0;  // in the arena
  // Takes the place of this buffer, whose last kernel is its first: that kernel reads each of the
  // old elements where it writes the new one.
  std::optional<std::uint32_t> in_place_of;
};

struct Schedule {
  std::vector<ScheduledKernel> kernels;
  std::vector<Buffer> buffers;  // in the order of replay's instances: by first kernel
  std::int64_t alignment = 1;
  std::int64_t peak_bytes = 0;         // the plan's, as replay counts it
  std::int64_t arena_bytes = 0;        // a multiple of the alignment
  std::int64_t lower_bound_bytes = 0;  // most alive at once, sizes rounded up: no arena is smaller

  std::int64_t gap_bytes() const { return arena_bytes - lower_bound_bytes; }
};

// What `bytes` take up in an arena of this alignment.
constexpr std::int64_t aligned(std::int64_t bytes, std::int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace recut
