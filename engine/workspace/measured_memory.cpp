// Replays the events of one device over a map of its addresses.
//
//   alloc           a block is born. If its address is taken, the trace has lost a free: the block
//                   that was there ends here
//   free_requested  noted; its bytes stay allocated until free_completed, as another stream may
//                   still use them
//   free_completed  the block ends. Without an alloc in the trace it was there before
//
// A block that is active in the segments, and that no event made, was there before, too. So the
// bytes before the first event follow block by block, and need no figure of the allocator. Reserved
// bytes go back from the segments at the end by the events of segments.
#include "engine/workspace/measured_memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "engine/support/units.h"

namespace recut {
namespace {

bool allocates(const std::vector<SnapshotEvent>& trace) {
  return std::any_of(trace.begin(), trace.end(), [](const SnapshotEvent& event) {
    return event.action == SnapshotAction::alloc;
  });
}

constexpr const char* kHowToRecord =
    "expected a snapshot with events: call torch.cuda.memory._record_memory_history() before the "
    "step, and torch.cuda.memory._dump_snapshot(FILE) after it";

std::int64_t reserved_change(const SnapshotEvent& event) {
  switch (event.action) {
    case SnapshotAction::segment_alloc:
    case SnapshotAction::segment_map:
      return event.bytes;
    case SnapshotAction::segment_free:
    case SnapshotAction::segment_unmap:
      return -event.bytes;
    default:
      return 0;
  }
}

// True if no sum of them overflows.
bool sizes_fit(const MemorySnapshot& snapshot, std::size_t device) {
  constexpr std::int64_t kMaxTotal = std::int64_t{1} << 60;
  std::int64_t total = 0;
  for (const SnapshotEvent& event : snapshot.traces[device])
    if ((total += event.bytes) > kMaxTotal) return false;
  for (const SnapshotSegment& segment : snapshot.segments)
    if ((total += segment.bytes) > kMaxTotal) return false;
  for (const SnapshotBlock& block : snapshot.blocks)
    if ((total += block.requested) > kMaxTotal) return false;
  return true;
}

class SnapshotReplay {
 public:
  SnapshotReplay(const MemorySnapshot& snapshot, std::size_t device)
      : snapshot_(snapshot), events_(snapshot.traces[device]) {
    memory_.device = device;
  }

  MeasuredMemory run() && {
    for (std::size_t i = 0; i < events_.size(); ++i) perform(i);
    add_untouched();
    std::stable_partition(memory_.blocks.begin(), memory_.blocks.end(),
                          [](const MeasuredBlock& block) { return block.birth == kBeforeTrace; });
    count_bytes();
    write_notes();
    return std::move(memory_);
  }

 private:
  void perform(std::size_t i) {
    const SnapshotEvent& event = events_[i];
    switch (event.action) {
      case SnapshotAction::alloc:
        return alloc(i);
      case SnapshotAction::free_requested:
        block_at(i).free_requested = i;
        return;
      case SnapshotAction::free_completed:
        if (block_at(i).free_requested == kNeverFreed) ++unannounced_;
        block_at(i).freed = i;
        alive_.erase(event.address);
        return;
      case SnapshotAction::out_of_memory:
        memory_.notes.push_back(
            fmt::format("out of memory at event {}: {} were asked for, and the device had {} left",
                        i, format_bytes(event.bytes), format_bytes(event.device_free)));
        return;
      default:
        return;
    }
  }

  void alloc(std::size_t i) {
    const SnapshotEvent& event = events_[i];
    const auto [at, fresh] = alive_.try_emplace(event.address, memory_.blocks.size());
    if (!fresh) {
      memory_.blocks[at->second].freed = i;
      at->second = memory_.blocks.size();
      ++overwritten_;
    }
    memory_.blocks.push_back(
        {event.address, event.bytes, event.stream, event.stack, event.context, i});
  }

  // The block that an event frees.
  MeasuredBlock& block_at(std::size_t i) {
    const SnapshotEvent& event = events_[i];
    const auto [at, fresh] = alive_.try_emplace(event.address, memory_.blocks.size());
    if (fresh) {
      memory_.blocks.push_back({event.address, event.bytes, event.stream});
      ++earlier_;
      earlier_bytes_ += event.bytes;
    }
    return memory_.blocks[at->second];
  }

  // Blocks that are allocated at the end and were so all the time.
  void add_untouched() {
    for (const SnapshotSegment& segment : snapshot_.segments) {
      if (segment.device != static_cast<std::int64_t>(memory_.device)) continue;
      reserved_end_ += segment.bytes;
      for (std::size_t b = segment.first_block; b < segment.first_block + segment.blocks; ++b) {
        const SnapshotBlock& block = snapshot_.blocks[b];
        if (block.state == SnapshotBlockState::inactive) continue;
        if (alive_.count(block.address) == 0)
          memory_.blocks.push_back({block.address, block.requested, segment.stream, block.stack});
        else
          ++matched_;
      }
    }
    if (matched_ < alive_.size()) lost_ = alive_.size() - matched_;
  }

  void count_bytes() {
    std::vector<std::int64_t> change(events_.size(), 0);
    for (const MeasuredBlock& block : memory_.blocks) {
      if (block.birth == kBeforeTrace)
        memory_.start_bytes += block.bytes;
      else
        change[block.birth] += block.bytes;
      if (block.freed != kNeverFreed) change[block.freed] -= block.bytes;
    }
    std::int64_t reserved = reserved_end_, bytes = memory_.start_bytes;
    for (const SnapshotEvent& event : events_) reserved -= reserved_change(event);
    memory_.start_reserved = reserved;
    memory_.peak_bytes = bytes;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      bytes += change[i];
      reserved += reserved_change(events_[i]);
      memory_.allocated.push_back(bytes);
      memory_.reserved.push_back(reserved);
      if (bytes > memory_.peak_bytes) {
        memory_.peak_bytes = bytes;
        memory_.peak_event = i;
      }
    }
  }

  void write_notes() {
    if (earlier_ > 0)
      memory_.notes.push_back(fmt::format(
          "{} blocks ({}) that the trace frees were allocated before its first event: they count "
          "as there before the step",
          format_count(earlier_), format_bytes(earlier_bytes_)));
    const bool old_annotation = std::any_of(
        snapshot_.annotations.begin(), snapshot_.annotations.end(),
        [&](const SnapshotAnnotation& one) { return one.time_us < events_.front().time_us; });
    if (unannounced_ > 0 || old_annotation)
      memory_.notes.push_back(
          "the trace's beginning is lost: its ring buffer was full, or recording began late");
    if (overwritten_ > 0)
      memory_.notes.push_back(
          fmt::format("{} blocks were allocated where another one was: the trace lacks events",
                      format_count(overwritten_)));
    if (lost_ > 0 && !snapshot_.segments.empty())
      memory_.notes.push_back(
          fmt::format("{} blocks that the trace leaves allocated are in no segment",
                      format_count(static_cast<std::int64_t>(lost_))));
    if (snapshot_.segments.empty())
      memory_.notes.push_back(
          "the snapshot has no segments: blocks that no event touches aren't known");
  }

  const MemorySnapshot& snapshot_;
  const std::vector<SnapshotEvent>& events_;
  MeasuredMemory memory_;
  std::unordered_map<std::uint64_t, std::size_t> alive_;  // by address; looked up only
  std::int64_t earlier_ = 0, earlier_bytes_ = 0, unannounced_ = 0, overwritten_ = 0;
  std::int64_t reserved_end_ = 0;
  std::size_t matched_ = 0, lost_ = 0;
};

}  // namespace

Result<std::size_t> busiest_device(const MemorySnapshot& snapshot, std::string_view file_name) {
  std::size_t busiest = 0, most = 0;
  for (std::size_t d = 0; d < snapshot.traces.size(); ++d)
    if (snapshot.traces[d].size() > most && allocates(snapshot.traces[d])) {
      busiest = d;
      most = snapshot.traces[d].size();
    }
  if (most > 0) return busiest;
  return Diagnostic{
      fmt::format("no device of the snapshot has an allocation in its trace, {}", kHowToRecord),
      std::string(file_name)};
}

Result<MeasuredMemory> measure_snapshot(const MemorySnapshot& snapshot, std::size_t device,
                                        std::string_view file_name) {
  if (device >= snapshot.traces.size() || !allocates(snapshot.traces[device])) {
    std::string others;
    for (std::size_t d = 0; d < snapshot.traces.size(); ++d)
      if (allocates(snapshot.traces[d]))
        others += fmt::format("{}{}", others.empty() ? "" : ", ", d);
    return Diagnostic{
        others.empty()
            ? fmt::format("device {} has no allocation in its trace, {}", device, kHowToRecord)
            : fmt::format("device {} has no allocation in its trace, expected one of {}", device,
                          others),
        std::string(file_name)};
  }
  if (!sizes_fit(snapshot, device))
    return Diagnostic{fmt::format("the sizes of device {} add up to more than 2^60 bytes", device),
                      std::string(file_name)};
  MeasuredMemory memory = SnapshotReplay(snapshot, device).run();
  memory.steps = steps_of(snapshot, memory);
  return memory;
}

}  // namespace recut
