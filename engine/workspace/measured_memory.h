// The history of one device's allocator, from its snapshot: every block with its life, the bytes
// that were allocated after each event, and the training steps of the trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/input/memory_snapshot.h"
#include "engine/support/result.h"

namespace recut {

inline constexpr std::size_t kBeforeTrace = SIZE_MAX;  // the birth of a block that was there first
inline constexpr std::size_t kNeverFreed = SIZE_MAX;

struct MeasuredBlock {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;  // that were asked for
  std::uint64_t stream = 0;
  SnapshotStack stack;
  SnapshotText context;                      // the compilation that allocated it
  std::size_t birth = kBeforeTrace;          // event
  std::size_t free_requested = kNeverFreed;  // event
  std::size_t freed = kNeverFreed;           // event; its bytes are free after it

  bool alive_after(std::size_t event) const {
    return (birth == kBeforeTrace || birth <= event) && freed > event;
  }
};

// Events from `first` to `end` - 1, of which the first is an allocation.
struct MeasuredStep {
  std::size_t first = 0, end = 0;
  std::string name;              // "before Optimizer.step#AdamW.step 2"
  std::int64_t start_bytes = 0;  // before its first allocation
};

struct MeasuredMemory {
  std::size_t device = 0;
  std::vector<MeasuredBlock> blocks;    // blocks from before the trace, then in order of allocation
  std::vector<std::int64_t> allocated;  // after each event, until frees are completed
  std::vector<std::int64_t> reserved;   // after each event, in segments
  std::int64_t start_bytes = 0;         // before the first event
  std::int64_t start_reserved = 0;
  std::size_t peak_event = 0;       // the first with the most allocated bytes
  std::int64_t peak_bytes = 0;      // of the whole trace
  std::vector<MeasuredStep> steps;  // in the order of the trace; at least one
  std::vector<std::string> notes;   // remarks for the user: missing or odd events

  std::int64_t allocated_before(std::size_t event) const {
    return event == 0 ? start_bytes : allocated[event - 1];
  }
};

// The device with the most events. Fails where no device has an allocation: the message says how to
// record events.
Result<std::size_t> busiest_device(const MemorySnapshot& snapshot, std::string_view file_name);

// Replays one device's events. A free without its alloc is of a block from before the trace. Fails
// on a device without allocations. Takes O(events + blocks).
Result<MeasuredMemory> measure_snapshot(const MemorySnapshot& snapshot, std::size_t device,
                                        std::string_view file_name);

// The training steps of a trace. The optimizer's steps separate them, where the program names
// these; else the period of the allocations' sizes does, cut where the fewest bytes are allocated;
// else the whole trace is one. Parts without allocations are no steps.
std::vector<MeasuredStep> steps_of(const MemorySnapshot& snapshot, const MeasuredMemory& memory);

// The line of the program that asked for a block: the innermost frame that is neither PyTorch's nor
// a library's in C++, as "forward net.py:12"; "" where there is none, as in backward.
std::string place_of(const MemorySnapshot& snapshot, SnapshotStack stack);
// The same as "net.py:12", without the function.
std::string line_of(const MemorySnapshot& snapshot, SnapshotStack stack);

}  // namespace recut
