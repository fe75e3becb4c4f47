// Memory snapshots: the forms that PyTorch writes, and faults of damaged ones.
#include "engine/input/memory_snapshot.h"

#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <map>
#include <string>

#include "engine/input/bytes.h"
#include "tests/paths.h"

namespace recut {
namespace {

MemorySnapshot snapshot_of(const std::string& path) {
  const auto bytes = read_file(path);
  REQUIRE(bytes.ok());
  CHECK(looks_like_memory_snapshot(*bytes));
  auto snapshot = read_memory_snapshot(*bytes, path);
  if (!snapshot) FAIL(format(snapshot.diagnostics()));
  return std::move(*snapshot);
}
MemorySnapshot small_snapshot(const std::string& name) {
  return snapshot_of(RECUT_SOURCE_DIR "/tests/input/snapshots/" + name + ".pickle");
}

std::size_t count_of(const std::vector<SnapshotEvent>& trace, SnapshotAction action) {
  return static_cast<std::size_t>(
      std::count_if(trace.begin(), trace.end(),
                    [action](const SnapshotEvent& event) { return event.action == action; }));
}

TEST_CASE("snapshots: events, segments, frames and annotations") {
  const auto snapshot = snapshot_of(RECUT_SOURCE_DIR "/samples/snapshots/mlp.pickle");
  REQUIRE(snapshot.traces.size() == 1);
  const auto& trace = snapshot.traces[0];
  CHECK(count_of(trace, SnapshotAction::alloc) == 33);
  CHECK(count_of(trace, SnapshotAction::free_requested) == 28);
  CHECK(count_of(trace, SnapshotAction::free_completed) == 28);
  CHECK(trace[0].bytes == 4096);
  CHECK(trace[0].address == 0x7f0000001000 + 512);
  CHECK(trace[0].time_us == 1070);
  const auto frames = snapshot.frames(trace[0].stack);
  REQUIRE(frames.size() == 2);
  CHECK(snapshot.text(frames[1].name) == "forward");
  CHECK(snapshot.text(frames[1].file) == "/srv/train/mlp.py");
  CHECK(frames[1].line == 11);
  CHECK(snapshot.stacks() == 5);  // four lines of the program, and one of the optimizer
  REQUIRE(snapshot.segments.size() == 1);
  CHECK(snapshot.segments[0].bytes == 2 << 20);
  CHECK(snapshot.segments[0].blocks == 12);
  CHECK(snapshot.blocks.front().state == SnapshotBlockState::active);
  CHECK(snapshot.blocks.back().state == SnapshotBlockState::inactive);
  REQUIRE(snapshot.annotations.size() == 4);
  CHECK(snapshot.text(snapshot.annotations[0].name) == "Optimizer.step#AdamW.step");
  CHECK_FALSE(snapshot.annotations[0].end);
  CHECK(snapshot.annotations[1].end);
  CHECK(snapshot.notes.empty());
}

TEST_CASE("snapshots: several devices, streams, expandable segments, protocol 5") {
  const auto snapshot = small_snapshot("devices");
  REQUIRE(snapshot.traces.size() == 2);
  CHECK(snapshot.traces[1][0].action == SnapshotAction::segment_map);
  CHECK(snapshot.traces[1].back().stream == 0);
  CHECK(std::any_of(snapshot.traces[1].begin(), snapshot.traces[1].end(),
                    [](const SnapshotEvent& event) { return event.stream == 0x55aa00; }));
  REQUIRE(snapshot.segments.size() == 2);
  CHECK(snapshot.segments[1].device == 1);
  CHECK(snapshot.segments[1].expandable);
}

TEST_CASE("snapshots: compiled regions, out of memory, and the oldest form") {
  const auto compiled = small_snapshot("compiled");
  const auto frames = compiled.frames(compiled.traces[0][0].stack);
  REQUIRE(frames.size() == 1);
  CHECK(compiled.text(frames[0].fx_node) == "hidden");
  CHECK(compiled.text(compiled.traces[0][0].context) == "0/0");

  const auto oom = small_snapshot("oom");
  const SnapshotEvent& last = oom.traces[0].back();
  CHECK(last.action == SnapshotAction::out_of_memory);
  CHECK(last.bytes == 1 << 20);
  CHECK(last.device_free == 4096);

  const auto old = small_snapshot("segments");
  CHECK(old.traces.empty());
  CHECK(old.segments.size() == 1);
  REQUIRE(old.notes.size() == 1);
  CHECK(old.notes[0] == "the snapshot is a list of segments alone: it has no events");
}

// A pickle of protocol 4, written as Python's literals would be.
struct Pickled {
  std::string bytes;

  static std::string text(std::string_view value) {
    return fmt::format("\x8c{}{}", static_cast<char>(value.size()), value);
  }
  static std::string number(std::int64_t value) {
    std::string bytes = "\x8a\x08";
    for (int i = 0; i < 8; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
    return bytes;
  }
  static std::string list(const std::vector<std::string>& items) {
    std::string bytes = "](";
    for (const std::string& item : items) bytes += item;
    return bytes + "e";
  }
  static std::string dict(const std::vector<std::pair<std::string, std::string>>& pairs) {
    std::string bytes = "}(";
    for (const auto& [key, value] : pairs) bytes += text(key) + value;
    return bytes + "u";
  }
};

std::string snapshot_fault(const std::string& root) {
  const auto snapshot = read_memory_snapshot("\x80\x04" + root + ".", "x.pickle");
  if (snapshot) return "";
  CHECK(snapshot.diagnostics().front().file == "x.pickle");
  return snapshot.diagnostics().front().message;
}
std::string event_fault(const std::vector<std::pair<std::string, std::string>>& members) {
  return snapshot_fault(
      Pickled::dict({{"device_traces", Pickled::list({Pickled::list({Pickled::dict(members)})})}}));
}

TEST_CASE("snapshots: what is no snapshot, and members that are wrong") {
  using P = Pickled;
  CHECK(snapshot_fault("K\x01") ==
        "the pickle is an integer, expected a snapshot: a dict with 'segments' and "
        "'device_traces'");
  CHECK(snapshot_fault(P::dict({{"weight", P::number(1)}})) ==
        "the pickle's dict has no 'segments' and no 'device_traces', expected a snapshot as "
        "torch.cuda.memory._dump_snapshot writes it");
  CHECK(snapshot_fault(P::dict({{"segments", P::number(1)}})) ==
        "segments is an integer, expected a list");
  CHECK(snapshot_fault(P::dict({{"segments", P::list({"N"})}})) ==
        "segments[0] is None, expected a dict");
  CHECK(snapshot_fault(P::dict({{"segments", P::list({P::dict({{"device", P::number(0)}})})}})) ==
        "segments[0]: 'total_size' is missing, expected an integer");
  CHECK(event_fault({{"addr", P::number(1)}}) ==
        "device_traces[0][0]: 'action' is missing, expected a string");
  CHECK(event_fault({{"action", P::text("alloc")}, {"addr", P::number(1)}}) ==
        "device_traces[0][0]: 'size' is missing, expected an integer");
  CHECK(event_fault(
            {{"action", P::text("alloc")}, {"addr", P::number(1)}, {"size", P::number(-5)}}) ==
        "device_traces[0][0]: 'size' is -5, expected bytes from 0 to 1125899906842624");
  CHECK(event_fault({{"action", P::text("alloc")},
                     {"addr", P::number(1)},
                     {"size", P::number(5)},
                     {"frames", P::number(5)}}) ==
        "device_traces[0][0]: 'frames' is an integer, expected a list");
  CHECK(event_fault({{"action", P::text("alloc")},
                     {"addr", P::number(1)},
                     {"size", P::number(5)},
                     {"frames", P::list({"N"})}}) ==
        "device_traces[0][0]: a frame is None, expected a dict");
  CHECK(event_fault(
            {{"action", P::text("alloc")}, {"addr", P::number(-4096)}, {"size", P::number(5)}}) ==
        "");

  const auto text = read_memory_snapshot("{\"segments\": []}", "x.json");
  REQUIRE_FALSE(text.ok());
  CHECK(
      text.diagnostics().front().message.starts_with("this is no memory snapshot: expected a "
                                                     "pickle of protocol 2 to 5"));
  const auto gzip = read_memory_snapshot("\x1f\x8b\x08 damaged", "x.pickle.gz");
  REQUIRE_FALSE(gzip.ok());
  CHECK(gzip.diagnostics().front().message.starts_with("gzip: "));
}

TEST_CASE("snapshots: unknown actions are left out, and a note says so") {
  using P = Pickled;
  const std::string event = P::dict({{"action", P::text("user_defined")}, {"addr", P::number(1)}});
  const std::string root =
      P::dict({{"device_traces", P::list({P::list({event, event})})}, {"later", "N"}});
  const auto snapshot = read_memory_snapshot("\x80\x04" + root + ".", "x.pickle");
  REQUIRE(snapshot.ok());
  CHECK(snapshot->traces[0].empty());
  REQUIRE(snapshot->notes.size() == 1);
  CHECK(snapshot->notes[0] == "2 events of the unknown action 'user_defined' are left out");
}

TEST_CASE("snapshots: lists that a file shares a thousand times are refused") {
  using P = Pickled;
  const std::string event =
      P::dict({{"action", P::text("alloc")}, {"addr", P::number(1)}, {"size", P::number(5)}});
  // A list of a thousand events that are one dict, and a thousand such lists.
  std::string trace = "](" + event + "\x94";
  for (int i = 0; i < 1000; ++i) trace += std::string("h\0", 2);
  std::string traces = "](" + trace + "e\x94";
  for (int i = 0; i < 1000; ++i) traces += "h\x01";
  CHECK(snapshot_fault("}" + P::text("device_traces") + traces + "es") ==
        "lists of events or blocks are shared in the pickle, expected each to be there once");
  // Frames are shared by all honest files.
  std::vector<std::string> events;
  for (int i = 0; i < 1000; ++i)
    events.push_back(P::dict(
        {{"action", P::text("alloc")},
         {"addr", P::number(i)},
         {"size", P::number(5)},
         {"frames", i == 0 ? P::list({P::dict({{"line", P::number(1)}})}) + std::string("q\0", 2)
                           : std::string("h\0", 2)}}));
  CHECK(snapshot_fault(P::dict({{"device_traces", P::list({P::list(events)})}})) == "");
}

TEST_CASE("snapshots: a real one of an AdamW step") {
  const std::string path = RECUT_SOURCE_DIR "/../shared/inputs/snapshot/eager.pickle.gz";
  if (!std::filesystem::exists(path)) SKIP("no shared/inputs beside the checkout");
  const auto snapshot = snapshot_of(path);
  REQUIRE(snapshot.traces.size() == 1);
  CHECK(snapshot.traces[0].size() == 798);
  CHECK(snapshot.segments.size() == 46);
  std::int64_t reserved = 0, active = 0;
  for (const SnapshotSegment& segment : snapshot.segments) reserved += segment.bytes;
  for (const SnapshotBlock& block : snapshot.blocks)
    if (block.state == SnapshotBlockState::active) active += block.bytes;
  CHECK(reserved == 387'973'120);
  CHECK(active == 114'551'808);
}

}  // namespace
}  // namespace recut
