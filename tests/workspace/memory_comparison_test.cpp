// Measured steps beside planned ones: the replay of a trace, its steps, and the account of the
// difference.
#include "engine/workspace/memory_comparison.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <string>

#include "engine/input/bytes.h"
#include "engine/workspace/measured_memory.h"
#include "engine/workspace/open_document.h"
#include "tests/paths.h"

namespace recut {
namespace {

MemorySnapshot read_snapshot(const std::string& path) {
  const auto bytes = read_file(path);
  REQUIRE(bytes.ok());
  auto snapshot = read_memory_snapshot(*bytes, path);
  if (!snapshot) FAIL(format(snapshot.diagnostics()));
  return std::move(*snapshot);
}
MemorySnapshot mlp_snapshot(const std::string& name) {
  return read_snapshot(name == "mlp"
                           ? RECUT_SOURCE_DIR "/samples/snapshots/mlp.pickle"
                           : RECUT_SOURCE_DIR "/tests/input/snapshots/" + name + ".pickle");
}
MeasuredMemory measured(const std::string& name, std::size_t device = 0) {
  const MemorySnapshot snapshot = mlp_snapshot(name);
  auto memory = measure_snapshot(snapshot, device, name);
  if (!memory) FAIL(format(memory.diagnostics()));
  return std::move(*memory);
}

MemoryComparison compared(const MemorySnapshot& snapshot, const Document& document,
                          const MemoryComparisonRequest& request = {}) {
  const auto program = replay_file_program(document);
  REQUIRE(program.ok());
  auto comparison =
      compare_memory(snapshot, "x.pickle", program_memory(document, *program), request);
  if (!comparison) FAIL(format(comparison.diagnostics()));
  CHECK(std::accumulate(comparison->causes.begin(), comparison->causes.end(), std::int64_t{0}) ==
        comparison->difference());
  std::int64_t of_modules = 0;
  for (const ComparedModule& row : comparison->modules) of_modules += row.planned;
  CHECK(of_modules == comparison->planned_peak);
  std::int64_t of_streams = 0;
  for (const BytesOf& row : comparison->streams) of_streams += row.bytes;
  CHECK(of_streams == comparison->measured_peak);
  for (std::size_t i = 1; i < comparison->measured.size(); ++i)
    CHECK(comparison->measured[i - 1].step <= comparison->measured[i].step);
  return std::move(*comparison);
}
Document mlp_document() {
  auto document = open_document(RECUT_SOURCE_DIR "/samples/mlp.recut", {});
  REQUIRE(document.ok());
  return std::move(*document);
}

TEST_CASE("measured memory: bytes before the trace follow from the blocks") {
  const MeasuredMemory memory = measured("mlp");
  CHECK(memory.start_bytes == 2048 + 128 + 512 + 16 + 512 + 128);
  CHECK(memory.allocated.front() == memory.start_bytes + 4096);
  CHECK(memory.reserved.back() == 2 << 20);
  CHECK(memory.allocated.back() == memory.start_bytes + 4096 + 2048 + 128 + 512 + 16);
  CHECK(memory.peak_bytes == *std::max_element(memory.allocated.begin(), memory.allocated.end()));
  CHECK(memory.allocated[memory.peak_event] == memory.peak_bytes);
  CHECK(memory.notes.empty());
}

TEST_CASE("measured memory: a trace whose beginning is lost") {
  const MeasuredMemory memory = measured("truncated");
  // The lost allocations of hidden and active, which the trace frees.
  CHECK(memory.start_bytes == 2048 + 128 + 512 + 16 + 512 + 128 + 1024 + 1024);
  REQUIRE(memory.notes.size() == 2);
  CHECK(memory.notes[0].starts_with("2 blocks (2.00 KiB) that the trace frees"));
  CHECK(memory.notes[1].starts_with("the trace's beginning is lost"));
}

TEST_CASE("measured memory: expandable segments, and blocks that a stream awaits") {
  const MeasuredMemory memory = measured("devices", 1);
  CHECK(memory.start_reserved == 1 << 20);
  CHECK(memory.reserved.front() == 2 << 20);
  // Freed by the program before `reduced` was allocated, and there until after it.
  const auto awaited = std::find_if(memory.blocks.begin(), memory.blocks.end(),
                                    [](const MeasuredBlock& b) { return b.bytes == 8192; });
  REQUIRE(awaited != memory.blocks.end());
  CHECK(awaited->free_requested < awaited->freed);
  CHECK(awaited->alive_after(awaited->free_requested));
  CHECK_FALSE(awaited->alive_after(awaited->freed));
}

TEST_CASE("measured memory: out of memory is said") {
  const MeasuredMemory memory = measured("oom");
  REQUIRE(memory.notes.size() == 1);
  CHECK(memory.notes[0] ==
        "out of memory at event 23: 1.00 MiB were asked for, and the device had 4.00 KiB left");
}

TEST_CASE("measured memory: steps by the optimizer's marks, else by repetition") {
  const MeasuredMemory marked = measured("mlp");
  REQUIRE(marked.steps.size() == 2);
  CHECK(marked.steps[0].name == "before Optimizer.step#AdamW.step (1 of 2)");
  CHECK(marked.steps[0].first == 0);
  CHECK(marked.steps[0].start_bytes == marked.start_bytes);
  // The second begins with the optimizer's states, and the workspace.
  CHECK(marked.steps[1].start_bytes == marked.start_bytes + 4096 + 2048 + 128 + 512 + 16);

  const MeasuredMemory repeated = measured("repeats");
  REQUIRE(repeated.steps.size() == 3);
  for (const MeasuredStep& step : repeated.steps) CHECK(step.start_bytes == repeated.start_bytes);
  CHECK(repeated.steps[1].name == "repetition 2 of 3");
  CHECK(repeated.steps[1].end == repeated.steps[2].first);

  CHECK(measured("compiled").steps.front().name == "the whole trace");
}

TEST_CASE("memory comparison: a step that does as planned") {
  const Document document = mlp_document();
  const MemoryComparison c = compared(mlp_snapshot("mlp"), document);
  CHECK(c.step == 2);
  CHECK(c.steps == 2);
  CHECK(c.difference() == 0);
  CHECK(c.aligned_blocks == 14);
  CHECK(c.planned_blocks == 14);
  CHECK(c.only_measured.empty());
  CHECK(c.only_planned.empty());
  CHECK(c.planned_peak_at == "b1_grad");
  CHECK(c.measured_peak_at == "b1_grad");
  // Each point stands where the plan has it.
  CHECK(c.measured_peak_step == static_cast<double>(c.planned_peak_step));
  std::int64_t highest = 0;
  for (const MemoryPoint& point : c.measured) highest = std::max(highest, point.bytes);
  CHECK(highest == c.planned_peak);
}

TEST_CASE("memory comparison: a workspace that the plan lacks") {
  const Document document = mlp_document();
  const MemoryComparison c = compared(mlp_snapshot("mlp"), document, {0, 1});
  CHECK(c.difference() == 4096);
  CHECK(c.causes[static_cast<std::size_t>(MemoryCause::only_measured)] == 4096);
  REQUIRE(c.only_measured.size() == 1);
  CHECK(c.only_measured[0].bytes == 4096);
  CHECK(c.only_measured[0].name == "forward mlp.py:11");
  CHECK(c.only_measured[0].at_peak);
}

TEST_CASE("memory comparison: devices, streams, and notes of oddities") {
  const Document document = mlp_document();
  const MemoryComparison c = compared(mlp_snapshot("devices"), document);
  CHECK(c.device == 1);
  CHECK(c.devices.size() == 2);
  CHECK(c.streams.size() == 2);
  CHECK(c.awaiting_bytes == 8192);
  CHECK(c.notes.back().starts_with("less than half of the step's bytes"));
  const MemoryComparison cut = compared(mlp_snapshot("truncated"), document);
  CHECK(cut.causes[static_cast<std::size_t>(MemoryCause::earlier_freed)] == -1024);
}

TEST_CASE("memory comparison: a device and a step that aren't there") {
  const Document document = mlp_document();
  const auto program = replay_file_program(document);
  const auto message = [&](const std::string& name, const MemoryComparisonRequest& request) {
    const auto c =
        compare_memory(mlp_snapshot(name), name, program_memory(document, *program), request);
    return c ? "" : c.diagnostics().front().message;
  };
  CHECK(message("mlp", {3}) == "device 3 has no allocation in its trace, expected one of 0");
  CHECK(message("mlp", {0, 3}).starts_with("the trace has no step 3, expected one from 1 to 2:"));
  CHECK(message("segments", {}).find("_record_memory_history") != std::string::npos);
}

TEST_CASE("memory comparison: the program's replay is the baseline of every plan") {
  const Document document = mlp_document();
  const auto program = replay_file_program(document);
  const auto planned = plan_document(document, {});
  REQUIRE(planned.ok());
  CHECK(program->peak_bytes == planned->report.baseline_peak_bytes);
  CHECK(planned_memory(document, *planned).order == "strategy peak, budget none");
}

TEST_CASE("memory comparison: a real AdamW step is planned within a tenth of a percent") {
  const std::string folder = RECUT_SOURCE_DIR "/../shared/inputs/snapshot";
  if (!std::filesystem::exists(folder)) SKIP("no shared/inputs beside the checkout");
  const auto document = open_document(folder + "/graph.json.gz", {});
  REQUIRE(document.ok());
  const MemoryComparison c = compared(read_snapshot(folder + "/eager.pickle.gz"), *document);
  CHECK(c.start_bytes == 114'551'808);
  CHECK(c.measured_rise() == 212'148'232);
  CHECK(c.planned_peak == 212'164'680);
  CHECK(10 * c.aligned_bytes > 9 * c.measured_block_bytes);
  // Every layer has the same bytes at both peaks, but for some of the allocator's units.
  for (const ComparedModule& row : c.modules)
    CHECK(std::abs(row.measured - row.planned) <= 32 * 1024);
}

}  // namespace
}  // namespace recut
