// The report of a plan, as plain values that every frontend shows, and how a replay gives it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/fusion/fuse_pointwise.h"
#include "engine/partition/replay.h"
#include "engine/partition/strategy.h"
#include "engine/workspace/torch_saved.h"

namespace recut {

// The reason why a storage is alive.
enum class MemoryKind : std::uint8_t {
  saved,       // kept across the boundary for backward
  recomputed,  // made again
  result,      // a result or a gradient: it lives to the end
  temporary,   // all others
};
inline constexpr std::size_t kMemoryKinds = 4;
// An inference step has no gradients: there `result` is "result" alone.
const char* name_of(MemoryKind kind, bool inference);
// The kind that reports show for an instance's class.
MemoryKind kind_of(InstanceClass instance);

// One run of one node.
struct TimelineStep {
  std::string node;
  std::string module;
  bool backward = false;
  std::array<std::int64_t, kMemoryKinds> bytes = {};  // alive in the step, by kind

  std::int64_t total() const { return bytes[0] + bytes[1] + bytes[2] + bytes[3]; }
};

// A storage that is alive at the peak, or saved, named by the node that wrote it.
struct StorageRow {
  std::string node;  // "workspace of conv": scratch of conv
  std::string op;
  std::string module;
  std::string type;  // f32[4, 768]; "": a workspace
  MemoryKind kind = MemoryKind::temporary;
  std::int64_t bytes = 0;
};

// A node that runs more than once.
struct RecomputedRow {
  std::string node;
  std::string op;
  std::string module;
  std::int64_t extra_runs = 0;
  double micros = 0;  // of all extra runs
};

// Overrides that make a budget infeasible.
struct OverrideBlame {
  bool feasible_without = false;        // without all overrides it can be held
  std::vector<std::string> sufficient;  // dropping any one of these suffices; as written
};

// Findings of the search for a plan; all other figures follow from the plan.
struct PlanFindings {
  Fusion fusion = Fusion::none;      // the kernels of the plan
  std::int64_t budget_bytes = 0;     // of the peak; 0: none
  double solve_ms = 0;               // planning alone
  std::optional<PeakProof> proof;    // of a strategy that bounds the peak
  std::vector<std::string> remarks;  // how the plan was found

  std::vector<std::string> overrides;  // as the user wrote them
  std::optional<OverrideBlame> blame;  // set if the budget can't be held with overrides

  std::int64_t arena_bytes = 0;  // 0: no schedule was made

  std::optional<TorchSaved> torch;  // PyTorch's own choice, where the file has it

  bool holds() const { return !proof || proof->holds; }
};

// Values that the caller hands in. They are there before the step, so no peak counts them.
struct GivenValues {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};

struct PlanReport : PlanFindings {
  bool inference = false;  // the step of a forward graph: no backward, nothing saved for it
  std::string model;
  std::string graph_key;  // "joint", "joint_after_passes", "" for the text form
  std::string strategy;
  std::string budget;  // as the user wrote it
  std::string device;  // the name of the profile that prices times
  std::string device_title;
  std::string cost_model;                   // "eager", "fused"
  std::vector<std::string> torch_settings;  // all of strategy torch, if it planned: "solver=dp", …
  std::int64_t nodes = 0;
  std::int64_t forward_runs = 0;
  std::int64_t backward_runs = 0;

  std::int64_t peak_bytes = 0;
  // The peak if the plan's calls run one by one, without workspaces: the interpreter measures
  // exactly this.
  std::int64_t eager_peak_bytes = 0;
  std::size_t peak_step = 0;             // index into timeline; 0 if it is empty
  std::int64_t baseline_peak_bytes = 0;  // see CostModel::baseline_cost
  std::int64_t saved_bytes = 0;
  std::int64_t saved_values = 0;  // each view counts
  double step_us = 0;             // every run, by the cost model
  double baseline_step_us = 0;    // see CostModel::baseline_cost
  double recompute_us = 0;        // all runs beyond a node's first
  std::int64_t recomputed_runs = 0;
  GivenValues weights;             // parameters and constants that results need
  GivenValues inputs;              // all other inputs that results need
  std::int64_t inlined_calls = 0;  // calls that other kernels compute for themselves

  // The storages saved for backward, each once, largest first; their bytes add up to saved_bytes. A
  // storage that is also returned has the kind `result`.
  std::vector<StorageRow> saved;
  std::vector<StorageRow> at_peak;        // largest first
  std::vector<RecomputedRow> recomputed;  // most expensive first
  std::vector<TimelineStep> timeline;     // in execution order, forward and backward

  std::int64_t saved_storages() const { return static_cast<std::int64_t>(saved.size()); }
  bool arena_differs() const { return arena_bytes > 0 && arena_bytes != peak_bytes; }
};

// Fills in everything that follows from the graph and the plan, in O(steps + instances log
// instances). The caller adds model, strategy, budget, solve time and the baseline.
PlanReport report_of(const Graph& graph, const Plan& plan, const Replay& replay);

// Bytes of the arena beyond a budget that the peak holds; 0 if the arena holds it too, or without a
// budget.
std::int64_t arena_over_budget(std::int64_t arena_bytes, std::int64_t peak_bytes,
                               std::int64_t budget_bytes);

// The arena beside budget and peak: "6.55 MiB above the budget", "512 B above the peak", "3.00 KiB
// below the peak".
std::string arena_note(std::int64_t arena_bytes, std::int64_t peak_bytes,
                       std::int64_t budget_bytes);

// A step of the timeline as users count them, from 1: "forward 412", "backward 1,204".
std::string step_label(const PlanReport& report, std::size_t step);

}  // namespace recut
