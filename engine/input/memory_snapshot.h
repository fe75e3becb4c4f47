// Memory snapshots of PyTorch (torch.cuda.memory._dump_snapshot): the allocator's events in order,
// and the blocks that were allocated when the snapshot was taken.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/ids.h"
#include "engine/support/result.h"

namespace recut {

enum class SnapshotAction : std::uint8_t {
  alloc,
  free_requested,  // by the program; the block may still wait for another stream
  free_completed,
  segment_alloc,
  segment_free,
  segment_map,  // of an expandable segment: memory that is mapped into its addresses
  segment_unmap,
  out_of_memory,
  snapshot,
  other,  // an action that a later PyTorch has; it allocates nothing
};

using SnapshotText = Id<struct SnapshotTextTag>;
using SnapshotStack = Id<struct SnapshotStackTag>;

struct SnapshotFrame {
  SnapshotText name, file;
  std::int64_t line = 0;
  SnapshotText fx_node;  // the node of a compiled graph that ran; invalid: none
};

// One entry of a device's trace. Bytes of an alloc and its frees are the requested ones.
struct SnapshotEvent {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::uint64_t stream = 0;
  std::int64_t time_us = 0;
  std::int64_t device_free = 0;  // of out_of_memory: the device's free bytes
  SnapshotStack stack;           // innermost frame first; empty in backward
  SnapshotText context;          // the compilation that it runs in; invalid: none
  SnapshotAction action = SnapshotAction::other;
};

enum class SnapshotBlockState : std::uint8_t { active, awaiting_free, inactive };

struct SnapshotBlock {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;      // rounded up
  std::int64_t requested = 0;  // bytes of the request, before rounding
  SnapshotBlockState state = SnapshotBlockState::inactive;
  SnapshotStack stack;
};

struct SnapshotSegment {
  std::int64_t device = 0;
  std::int64_t bytes = 0;
  std::uint64_t stream = 0;
  bool expandable = false;
  std::size_t first_block = 0, blocks = 0;  // in MemorySnapshot::blocks, by rising address
};

// The beginning or the end of something that the program named, as "Optimizer.step#AdamW.step".
struct SnapshotAnnotation {
  SnapshotText name;
  std::int64_t device = -1;  // -1: of all
  std::int64_t time_us = 0;
  bool end = false;
};

class MemorySnapshot {
 public:
  std::vector<std::vector<SnapshotEvent>> traces;  // by device; empty in very old snapshots
  std::vector<SnapshotSegment> segments;
  std::vector<SnapshotBlock> blocks;
  std::vector<SnapshotAnnotation> annotations;
  std::vector<std::string> notes;  // remarks for the user: entries that the reader left out

  std::string_view text(SnapshotText id) const {
    return id.valid() ? std::string_view(texts_[id.index]) : std::string_view();
  }
  std::size_t texts() const { return texts_.size(); }
  std::span<const SnapshotFrame> frames(SnapshotStack id) const {
    if (!id.valid()) return {};
    return std::span(frames_).subspan(stacks_[id.index].first, stacks_[id.index].count);
  }
  std::size_t stacks() const { return stacks_.size(); }

 private:
  friend class SnapshotReader;
  struct Frames {
    std::size_t first = 0, count = 0;
  };
  std::deque<std::string> texts_;
  std::vector<SnapshotFrame> frames_;
  std::vector<Frames> stacks_;
};

// True for bytes that may be a snapshot: a pickle, gzipped or not.
bool looks_like_memory_snapshot(std::string_view bytes);

// Reads a snapshot, gzipped or not, without running anything (pickle.h). Fails on a pickle that
// isn't one, and names the member that is missing or of another kind. Negative sizes are errors.
// Takes O(bytes).
Result<MemorySnapshot> read_memory_snapshot(std::string_view bytes, std::string_view file_name);

}  // namespace recut
