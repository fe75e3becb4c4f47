// Snapshots from their pickles. A snapshot is a dict:
//
//   segments            [{device, address, total_size, stream, is_expandable, blocks: [{address,
//                       size, requested_size, state, frames}]}]
//   device_traces       by device: [{action, addr, size, stream, time_us, compile_context, frames}]
//   external_annotations [{stage: START or END, name, device, time_us}]
//
// Very old ones are the list of segments alone. Other members are for other programs. A frame, a
// list of frames and a text that the pickle shares are read once, by their index. An event is then
// some comparisons of integers, and takes 64 bytes.
//
// A hostile pickle may share a list of a million events a million times. In a real one each entry
// is a dict of its own, so more entries and members than the file has values are refused.
#include "engine/input/memory_snapshot.h"

#include <fmt/core.h>

#include <map>
#include <optional>
#include <unordered_map>

#include "engine/input/bytes.h"
#include "engine/input/pickle.h"
#include "engine/input/snapshot_fields.h"
#include "engine/support/hash.h"
#include "engine/support/text.h"

namespace recut {
namespace {

constexpr std::int64_t kMaxSnapshotDevices = 4096;

constexpr std::pair<std::string_view, SnapshotAction> kSnapshotActions[] = {
    {"alloc", SnapshotAction::alloc},
    {"free_requested", SnapshotAction::free_requested},
    {"free_completed", SnapshotAction::free_completed},
    {"segment_alloc", SnapshotAction::segment_alloc},
    {"segment_free", SnapshotAction::segment_free},
    {"segment_map", SnapshotAction::segment_map},
    {"segment_unmap", SnapshotAction::segment_unmap},
    {"oom", SnapshotAction::out_of_memory},
    {"snapshot", SnapshotAction::snapshot},
};

}  // namespace

class SnapshotReader : private SnapshotFields {
 public:
  SnapshotReader(const PickleDocument& pickle, std::string_view file_name)
      : SnapshotFields(pickle), file_(file_name) {}

  Result<MemorySnapshot> read() {
    const PickleValue root = pickle_.root();
    if (root.is(PickleKind::list)) {
      read_segments(root);
      snapshot_.notes.push_back("the snapshot is a list of segments alone: it has no events");
    } else if (root.is(PickleKind::dict)) {
      read_root(root);
    } else {
      fail(
          fmt::format("the pickle is {}, expected a snapshot: a dict with 'segments' and "
                      "'device_traces'",
                      describe(root.kind)));
    }
    if (failed()) return Diagnostic{fault(), std::string(file_), 0, 0};
    for (const auto& [action, count] : unknown_actions_)
      snapshot_.notes.push_back(
          fmt::format("{} events of the unknown action {} are left out", count, quote(action)));
    return std::move(snapshot_);
  }

 private:
  // The number of a text; invalid where there is none.
  SnapshotText text(const SnapshotMembers& members, SnapshotKey key) {
    const PickleValue* value = members.find(key);
    if (value == nullptr || !value->is(PickleKind::text)) return {};
    return intern(pickle_.text(*value));
  }
  SnapshotText intern(std::string_view text) {
    const auto found = text_ids_.find(text);
    if (found != text_ids_.end()) return found->second;
    const SnapshotText id(snapshot_.texts_.size());
    snapshot_.texts_.emplace_back(text);
    text_ids_.emplace(text, id);
    return id;
  }

  void read_root(PickleValue root) {
    const SnapshotMembers members = members_of(root);
    const PickleValue* segments = members.find(SnapshotKey::segments);
    const PickleValue* traces = members.find(SnapshotKey::device_traces);
    if (segments == nullptr && traces == nullptr)
      return fail(
          "the pickle's dict has no 'segments' and no 'device_traces', expected a snapshot "
          "as torch.cuda.memory._dump_snapshot writes it");
    if (segments != nullptr) read_segments(*segments);
    if (traces != nullptr)
      each_entry(*traces, "device_traces", [&](PickleValue trace, std::size_t device) {
        if (device >= static_cast<std::size_t>(kMaxSnapshotDevices))
          return fail(fmt::format("there are traces of more than {} devices", kMaxSnapshotDevices));
        read_trace(trace, device);
      });
    if (const PickleValue* annotations = members.find(SnapshotKey::external_annotations))
      each_entry(*annotations, "external_annotations",
                 [&](PickleValue one, std::size_t i) { read_annotation(one, i); });
    if (const PickleValue* host = members.find(SnapshotKey::host_traces);
        host != nullptr && host->is(PickleKind::list) && pickle_.size(*host) > 0)
      snapshot_.notes.push_back("events of the host's memory are left out");
  }

  void read_segments(PickleValue segments) {
    each_entry(segments, "segments", [&](PickleValue value, std::size_t index) {
      const std::string where = fmt::format("segments[{}]", index);
      if (!is_entry(value, where)) return;
      const SnapshotMembers members = members_of(value);
      SnapshotSegment segment;
      segment.device = number(members, SnapshotKey::device, where, false);
      segment.bytes = byte_count(members, SnapshotKey::total_size, where, true);
      segment.stream = handle(members, SnapshotKey::stream, where, false);
      segment.expandable = number(members, SnapshotKey::is_expandable, where, false) != 0;
      segment.first_block = snapshot_.blocks.size();
      if (segment.device < 0 || segment.device >= kMaxSnapshotDevices)
        return fail(fmt::format("{}: 'device' is {}, expected 0 to {}", where, segment.device,
                                kMaxSnapshotDevices - 1));
      const PickleValue* blocks = members.find(SnapshotKey::blocks);
      if (blocks == nullptr) return fail(wrong(where, SnapshotKey::blocks, blocks, "a list"));
      read_blocks(*blocks, where, members);
      segment.blocks = snapshot_.blocks.size() - segment.first_block;
      snapshot_.segments.push_back(segment);
    });
  }

  // Old blocks have no address: they follow each other from the segment's on.
  void read_blocks(PickleValue blocks, const std::string& segment,
                   const SnapshotMembers& of_segment) {
    std::uint64_t next = handle(of_segment, SnapshotKey::address, segment, true);
    each_entry(blocks, segment + ".blocks", [&](PickleValue value, std::size_t index) {
      const std::string where = fmt::format("{}.blocks[{}]", segment, index);
      if (!is_entry(value, where)) return;
      const SnapshotMembers members = members_of(value);
      SnapshotBlock block;
      block.address = members.find(SnapshotKey::address) == nullptr
                          ? next
                          : handle(members, SnapshotKey::address, where, true);
      block.bytes = byte_count(members, SnapshotKey::size, where, true);
      block.requested = members.find(SnapshotKey::requested_size) == nullptr
                            ? block.bytes
                            : byte_count(members, SnapshotKey::requested_size, where, true);
      block.state = state_of(members, where);
      block.stack = stack(members, where);
      next = block.address + static_cast<std::uint64_t>(block.bytes);
      snapshot_.blocks.push_back(block);
    });
  }

  SnapshotBlockState state_of(const SnapshotMembers& members, const std::string& where) {
    const std::string_view state = snapshot_.text(text(members, SnapshotKey::state));
    if (state == "active_allocated") return SnapshotBlockState::active;
    if (state == "active_awaiting_free" || state == "active_pending_free")
      return SnapshotBlockState::awaiting_free;
    if (state != "inactive")
      fail(
          fmt::format("{}: 'state' is {}, expected active_allocated, active_awaiting_free or "
                      "inactive",
                      where, state.empty() ? "missing" : quote(state)));
    return SnapshotBlockState::inactive;
  }

  void read_trace(PickleValue trace, std::size_t device) {
    std::vector<SnapshotEvent>& events = snapshot_.traces.emplace_back();
    each_entry(trace, fmt::format("device_traces[{}]", device),
               [&](PickleValue value, std::size_t index) {
                 read_event(value, fmt::format("device_traces[{}][{}]", device, index), events);
               });
  }

  void read_event(PickleValue value, const std::string& where, std::vector<SnapshotEvent>& events) {
    if (!is_entry(value, where)) return;
    const SnapshotMembers members = members_of(value);
    const SnapshotText action = text(members, SnapshotKey::action);
    if (!action.valid())
      return fail(wrong(where, SnapshotKey::action, members.find(SnapshotKey::action), "a string"));
    SnapshotEvent event;
    event.action = action_of(snapshot_.text(action));
    if (event.action == SnapshotAction::other) {
      ++unknown_actions_[std::string(snapshot_.text(action))];
      return;
    }
    const bool moves =
        event.action != SnapshotAction::out_of_memory && event.action != SnapshotAction::snapshot;
    event.address = handle(members, SnapshotKey::addr, where, moves);
    event.bytes = byte_count(members, SnapshotKey::size, where, moves);
    event.stream = handle(members, SnapshotKey::stream, where, false);
    event.time_us = number(members, SnapshotKey::time_us, where, false);
    if (event.action == SnapshotAction::out_of_memory)
      event.device_free = byte_count(members, SnapshotKey::device_free, where, false);
    event.stack = stack(members, where);
    const SnapshotText context = text(members, SnapshotKey::compile_context);
    if (!snapshot_.text(context).empty() && snapshot_.text(context) != "N/A")
      event.context = context;
    events.push_back(event);
  }

  static SnapshotAction action_of(std::string_view name) {
    for (const auto& [known, action] : kSnapshotActions)
      if (known == name) return action;
    return SnapshotAction::other;
  }

  void read_annotation(PickleValue value, std::size_t index) {
    const std::string where = fmt::format("external_annotations[{}]", index);
    if (!is_entry(value, where)) return;
    const SnapshotMembers members = members_of(value);
    SnapshotAnnotation annotation;
    annotation.name = text(members, SnapshotKey::name);
    annotation.time_us = number(members, SnapshotKey::time_us, where, false);
    const std::string_view stage = snapshot_.text(text(members, SnapshotKey::stage));
    if (!annotation.name.valid() || (stage != "START" && stage != "END")) return;
    annotation.end = stage == "END";
    if (members.find(SnapshotKey::device) != nullptr)
      annotation.device = number(members, SnapshotKey::device, where, true);
    snapshot_.annotations.push_back(annotation);
  }

  // A list of frames by its index in the pickle, then by its content.
  SnapshotStack stack(const SnapshotMembers& members, const std::string& where) {
    const PickleValue* list = members.find(SnapshotKey::frames);
    if (list == nullptr || list->is(PickleKind::none)) return {};
    if (!list->is(PickleKind::list) && !list->is(PickleKind::tuple)) {
      fail(wrong(where, SnapshotKey::frames, list, "a list"));
      return {};
    }
    if (pickle_.size(*list) == 0) return {};
    const auto known = stack_of_list_.find(list->index());
    if (known != stack_of_list_.end()) return known->second;
    std::vector<std::uint32_t> frames;
    each_entry(*list, where + ".frames", [&](PickleValue value, std::size_t) {
      if (const auto one = frame(value, where)) frames.push_back(*one);
    });
    return stack_of_list_[list->index()] = stack_of(frames);
  }

  SnapshotStack stack_of(const std::vector<std::uint32_t>& frames) {
    std::uint64_t hash = frames.size();
    for (const std::uint32_t frame : frames) hash = hash_mix(hash, frame);
    for (const SnapshotStack id : stacks_by_hash_[hash])
      if (stack_frames_[id.index] == frames) return id;
    const SnapshotStack id(snapshot_.stacks_.size());
    snapshot_.stacks_.push_back({snapshot_.frames_.size(), frames.size()});
    for (const std::uint32_t frame : frames) snapshot_.frames_.push_back(distinct_frames_[frame]);
    stack_frames_.push_back(frames);
    stacks_by_hash_[hash].push_back(id);
    return id;
  }

  // The number of a frame among the distinct ones.
  std::optional<std::uint32_t> frame(PickleValue value, const std::string& where) {
    if (!value.is(PickleKind::dict)) {
      fail(fmt::format("{}: a frame is {}, expected a dict", where, describe(value.kind)));
      return std::nullopt;
    }
    const auto known = frame_of_dict_.find(value.index());
    if (known != frame_of_dict_.end()) return known->second;
    const SnapshotMembers members = members_of(value);
    const SnapshotFrame frame{
        text(members, SnapshotKey::name), text(members, SnapshotKey::filename),
        number(members, SnapshotKey::line, where, false), text(members, SnapshotKey::fx_node_name)};
    const auto [at, fresh] = frame_ids_.try_emplace(
        {frame.name.index, frame.file.index, frame.line, frame.fx_node.index},
        static_cast<std::uint32_t>(distinct_frames_.size()));
    if (fresh) distinct_frames_.push_back(frame);
    frame_of_dict_.emplace(value.index(), at->second);
    return at->second;
  }

  std::string_view file_;
  MemorySnapshot snapshot_;
  // Views of the pickle's bytes; looked up only, never walked.
  std::unordered_map<std::string_view, SnapshotText> text_ids_;
  std::map<std::string, std::size_t> unknown_actions_;
  std::unordered_map<std::size_t, std::uint32_t> frame_of_dict_;
  std::map<std::array<std::int64_t, 4>, std::uint32_t> frame_ids_;
  std::vector<SnapshotFrame> distinct_frames_;
  std::unordered_map<std::size_t, SnapshotStack> stack_of_list_;
  std::unordered_map<std::uint64_t, std::vector<SnapshotStack>> stacks_by_hash_;
  std::vector<std::vector<std::uint32_t>> stack_frames_;
};

bool looks_like_memory_snapshot(std::string_view bytes) {
  return looks_like_pickle(is_gzip(bytes) ? gunzip_front(bytes, 2) : bytes);
}

Result<MemorySnapshot> read_memory_snapshot(std::string_view bytes, std::string_view file_name) {
  std::string unpacked;
  if (is_gzip(bytes)) {
    auto result = gunzip(bytes);
    if (!result) return Diagnostic{result.diagnostics().front().message, std::string(file_name)};
    unpacked = std::move(*result);
    bytes = unpacked;
  }
  if (!looks_like_pickle(bytes))
    return Diagnostic{
        "this is no memory snapshot: expected a pickle of protocol 2 to 5, gzipped or not, as "
        "torch.cuda.memory._dump_snapshot writes it",
        std::string(file_name)};
  const auto pickle = parse_pickle(bytes, file_name);
  if (!pickle) return pickle.diagnostics();
  return SnapshotReader(*pickle, file_name).read();
}

}  // namespace recut
