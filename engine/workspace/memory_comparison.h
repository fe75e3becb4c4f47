// A measured step (a memory snapshot) beside a planned one: both curves on one axis, and where the
// bytes of their peaks differ.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/memory_snapshot.h"
#include "engine/ir/graph.h"
#include "engine/partition/replay.h"
#include "engine/support/result.h"
#include "engine/workspace/document.h"
#include "engine/workspace/planning.h"

namespace recut {

struct MemoryComparisonRequest {
  std::optional<std::size_t> device;  // none: the one with the most events
  std::optional<std::size_t> step;    // of the trace, from 1; none: the one most like the plan
};

// A planned step, from the replay of a graph's plan.
struct PlannedMemory {
  const Graph& graph;
  const Replay& replay;
  std::string model;
  std::string graph_key;
  std::string order;                    // "strategy peak, budget 50%"
  std::int64_t program_peak_bytes = 0;  // of the file's program as eager runs it
};

// The planned memory of a plan of the document's graph. Both must outlive the result.
PlannedMemory planned_memory(const Document& document, const Planned& planned);

// The file's program as eager runs it, without a plan. Fails where its bytes overflow.
Result<Replay> replay_file_program(const Document& document);
PlannedMemory program_memory(const Document& document, const Replay& program);

// The causes why the rises of the two peaks differ; their bytes add up to the difference.
enum class MemoryCause : std::uint8_t {
  only_measured,    // alive at the measured peak, and no planned block is like it
  measured_longer,  // aligned, and alive at the measured peak alone
  other_sizes,      // aligned and alive at both: bytes asked for beyond those planned
  earlier_freed,    // from before the step, and freed before its peak
  planned_longer,   // aligned, and alive at the planned peak alone
  only_planned,     // alive at the planned peak, and no measured block is like it
};
inline constexpr std::size_t kMemoryCauses = 6;
std::string_view name_of(MemoryCause cause);   // "only_measured"
std::string_view describe(MemoryCause cause);  // for users

struct MemoryPoint {
  double step = 0;         // on the plan's axis of steps
  std::int64_t bytes = 0;  // above those before the step
};

// Bytes at the two peaks.
struct ComparedModule {
  std::string module;
  std::int64_t measured = 0, planned = 0;
};

struct BytesOf {
  std::string name;
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
};

// A block that one side has alone.
struct LoneBlock {
  std::string name;    // planned: the node; measured: the line of the program, "" in backward
  std::string module;  // planned: of the node; measured: of the block before it
  std::int64_t bytes = 0;
  std::size_t at = 0;  // planned: step; measured: event
  bool at_peak = false;
};

struct MeasuredDevice {
  std::size_t device = 0;
  std::int64_t events = 0;
  std::int64_t start_bytes = 0, peak_bytes = 0, peak_reserved = 0;  // of the whole trace
};

struct MemoryComparison {
  std::string model, graph_key, order, snapshot;
  std::vector<MeasuredDevice> devices;  // that allocate
  std::size_t device = 0;               // the compared one
  std::int64_t events = 0;              // of the step
  std::size_t step = 0, steps = 0;      // from 1
  std::string step_name;

  std::int64_t start_bytes = 0;    // before the step
  std::int64_t measured_peak = 0;  // in the step, with those
  std::int64_t planned_peak = 0;   // above them
  std::int64_t program_peak = 0;   // PlannedMemory::program_peak_bytes
  std::size_t measured_peak_event = 0;
  double measured_peak_step = 0;  // on the plan's axis
  std::size_t planned_peak_step = 0, forward_steps = 0;
  std::string measured_peak_at, planned_peak_at;  // the node; near it, where measured

  std::vector<MemoryPoint> measured;  // after each event of the step that changes bytes
  std::vector<std::int64_t> planned;  // by step

  std::int64_t measured_blocks = 0, planned_blocks = 0, aligned_blocks = 0;
  std::int64_t measured_block_bytes = 0, aligned_bytes = 0;  // as measured
  std::array<std::int64_t, kMemoryCauses> causes{};
  std::int64_t rounding_bytes = 0;  // at the measured peak, up to the allocator's unit
  std::int64_t awaiting_bytes = 0;  // there, freed by the program and awaited by other streams
  std::int64_t reserved_bytes = 0;  // there, in segments

  std::vector<ComparedModule> modules;  // largest difference first
  std::vector<BytesOf> lines;           // of the step, alive at the measured peak, largest first
  std::vector<BytesOf> streams;         // bytes alive at the measured peak
  std::vector<LoneBlock> only_measured, only_planned;  // largest first
  std::vector<std::string> notes;

  std::int64_t measured_rise() const { return measured_peak - start_bytes; }
  std::int64_t difference() const { return measured_rise() - planned_peak; }
};

// Fails on a device or a step that the snapshot lacks. Takes O(events + steps), and the alignment
// of size_alignment.h.
Result<MemoryComparison> compare_memory(const MemorySnapshot& snapshot, std::string_view file_name,
                                        const PlannedMemory& planned,
                                        const MemoryComparisonRequest& request = {});

std::string memory_comparison_text(const MemoryComparison& comparison);
std::string memory_comparison_json(const MemoryComparison& comparison);

}  // namespace recut
