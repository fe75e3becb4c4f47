// Schedules: a plan's steps as kernels, and an offset in one arena for each of their results. This
// is the module's interface.
//
//   plan      %a = exp(%x) | %b = relu(%a) | %v = permute(%b) | %c = mm(%v, %w)
//   kernels   0: exp, relu                 | 1: permute       | 2: mm
//   buffers   b: kernels 0 to 2 at 0;  c: kernel 2 to the end at 4096;  a stays inside kernel 0
//
// The memory model is replay's (engine/partition/replay.h), in units of kernels: a buffer is live
// from the start of the kernel that computes it to the end of the last kernel that reads it.
// Results and gradients live to the end, and a workspace only during its kernel. Inputs,
// parameters, tangents and constants belong to the caller and aren't in the arena.
//
// The budget bounds the arena, but for two things:
//   alignment      Every buffer starts at a multiple of it, so sizes are rounded up. The maximum of
//                  live bytes (`lower_bound_bytes`) exceeds the plan's peak by less than alignment
//                  times the number of live buffers, and not at all if all sizes are multiples, as
//                  those of large tensors are. With an alignment of 1 the two are equal.
//   fragmentation  A packing may be higher than the live bytes, by `gap_bytes`; for nearly all
//                  plans it is 0.
// engine/workspace/scheduling.h plans again if the arena exceeds its budget by these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/ir/plan.h"
#include "engine/ir/storage_model.h"
#include "engine/partition/replay.h"

namespace recut {

// Calls that run as one kernel: a fusion group, or one call. A view outside of groups is an entry
// of its own that launches nothing: its readers compute addresses in its base.
struct ScheduledKernel {
  std::vector<NodeId> calls;   // in order, with the views between a group's calls
  std::size_t first_step = 0;  // in the plan, forward, then backward; one step for each call
  Phase phase = Phase::forward;
  bool again = false;  // a recomputation; never for a view
  bool launches = true;
};

// One instance of a storage, with its offset.
struct Buffer {
  StorageId storage;
  NodeId owner;
  std::int64_t bytes = 0;
  std::uint32_t first_kernel = 0, last_kernel = 0;  // both included
  InstanceClass kind = InstanceClass::forward_temporary;
  bool workspace = false;
  std::int64_t offset = 0;  // in the arena
  // Reuses the memory of this buffer, whose last kernel is this one's first: the kernel reads each
  // old element before it writes the new one.
  std::optional<std::uint32_t> in_place_of;
};

struct Schedule {
  std::vector<ScheduledKernel> kernels;
  std::vector<Buffer> buffers;  // in the order of replay's instances: by first kernel
  std::int64_t alignment = 1;
  std::int64_t peak_bytes = 0;         // the plan's, as replay counts it
  std::int64_t arena_bytes = 0;        // a multiple of the alignment
  std::int64_t lower_bound_bytes = 0;  // maximum of live bytes, sizes rounded up

  std::int64_t gap_bytes() const { return arena_bytes - lower_bound_bytes; }
};

// `bytes` rounded up to the alignment.
constexpr std::int64_t aligned(std::int64_t bytes, std::int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace recut
