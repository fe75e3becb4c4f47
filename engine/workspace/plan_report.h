// What a plan comes to, as plain values: for the command, the window and the page alike.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/fusion/fuse_pointwise.h"
#include "engine/partition/strategy.h"

namespace recut {

// Why a storage is alive.
enum class MemoryKind : std::uint8_t {
  saved,       // kept across the border for backward
  recomputed,  // computed again in backward
  result,      // a result or a gradient: it lives to the end
  temporary,   // everything else
};
inline constexpr std::size_t kMemoryKinds = 4;
const char* name_of(MemoryKind kind);

// One run of one node.
struct TimelineStep {
  std::string node;
  std::string module;
  bool backward = false;
  std::array<std::int64_t, kMemoryKinds> bytes = {};  // alive during the step, by kind

  std::int64_t total() const { return bytes[0] + bytes[1] + bytes[2] + bytes[3]; }
};

// A storage alive at the peak, or saved; named by the node that wrote it.
struct StorageRow {
  std::string node;  // "workspace of conv" is what conv takes for itself
  std::string op;
  std::string module;
  std::string type;  // f32[4, 768]; "" of a workspace
  MemoryKind kind = MemoryKind::temporary;
  std::int64_t bytes = 0;
};

// A node that runs more than once.
struct RecomputedRow {
  std::string node;
  std::string op;
  std::string module;
  std::int64_t extra_runs = 0;
  double micros = 0;  // all extra runs together
};

// Whether choices by hand are why a budget can't be held.
struct ChoiceBlame {
  bool holds_without = false;      // without any of them it can be
  std::vector<std::string> alone;  // each of these is enough to drop, as it was written
};

// What only the search for a plan knows; everything else follows from the plan.
struct PlanFindings {
  Fusion fusion = Fusion::none;      // the kernels that it was made for
  std::int64_t budget_bytes = 0;     // of the peak; 0: none was named
  double solve_ms = 0;               // planning alone
  std::optional<PeakProof> proof;    // of a strategy that bounds the peak
  std::vector<std::string> remarks;  // how the plan was found

  std::vector<std::string> choices;  // by hand, as they were written
  std::optional<ChoiceBlame> blame;  // where there are some and the budget can't be held

  std::int64_t arena_bytes = 0;  // that its buffers take; 0: no schedule was made

  bool holds() const { return !proof || proof->holds; }
};

struct PlanReport : PlanFindings {
  std::string model;
  std::string graph_key;  // "joint", "joint_after_passes", "" for the text form
  std::string strategy;
  std::string budget;  // as it was asked for
  std::string device;  // the profile's name, by which times are priced
  std::string device_title;
  std::string cost_model;  // "eager", "fused"
  std::int64_t nodes = 0;
  std::int64_t forward_runs = 0;
  std::int64_t backward_runs = 0;

  std::int64_t peak_bytes = 0;
  // Where the plan's calls run one by one, of the values alone, to the byte: what the interpreter
  // measures.
  std::int64_t eager_peak_bytes = 0;
  std::size_t peak_step = 0;              // index into timeline; 0 where that is empty
  std::int64_t peak_bytes_unplanned = 0;  // as CostModel::unplanned says
  std::int64_t saved_bytes = 0;
  std::int64_t saved_values = 0;  // views of a storage count each
  double step_us = 0;             // every run, by the cost model
  double step_us_unplanned = 0;   // as CostModel::unplanned says
  double recompute_us = 0;        // runs beyond each node's first
  std::int64_t recomputed_runs = 0;
  std::int64_t inlined_calls = 0;  // that kernels of others make for themselves

  // All that is kept for backward, a storage once, largest first; their bytes are saved_bytes. What
  // is returned, too, is of the kind `result`.
  std::vector<StorageRow> saved;
  std::vector<StorageRow> at_peak;        // largest first
  std::vector<RecomputedRow> recomputed;  // dearest first
  std::vector<TimelineStep> timeline;     // forward, then backward, in the order of running

  std::int64_t saved_storages() const { return static_cast<std::int64_t>(saved.size()); }
  bool arena_differs() const { return arena_bytes > 0 && arena_bytes != peak_bytes; }
};

// Bytes of an arena beyond a budget that the peak holds; 0 where the arena holds it, too, or there
// is none.
std::int64_t arena_beyond(std::int64_t arena_bytes, std::int64_t peak_bytes,
                          std::int64_t budget_bytes);

// "6.55 MiB above the budget", "512 B above the peak", "3.00 KiB below the peak".
std::string arena_note(std::int64_t arena_bytes, std::int64_t peak_bytes,
                       std::int64_t budget_bytes);

// "forward 412", "backward 1,204": a step of the timeline as people count them, from 1.
std::string step_words(const PlanReport& report, std::size_t step);

}  // namespace recut
