// Runs, measures and checks the steps of all ranks in this process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/eval/accuracy.h"
#include "engine/input/safetensors.h"
#include "engine/mesh/spmd/sharded_graph.h"
#include "engine/runtime/local_ranks.h"
#include "engine/runtime/rank_run.h"
#include "engine/support/result.h"
#include "engine/workspace/rank_steps.h"

namespace recut {

// Makes a rank's program ready to run: the executor's part. It outlives the runs.
using PrepareRank =
    std::function<Result<std::unique_ptr<RankRun>>(const Program&, std::vector<Tensor> inputs)>;

struct RankExecutionRequest {
  PrepareRank prepare;
  // Of the whole graph's inputs; of graphs that are ranks' parts already, of all ranks.
  std::span<const NamedTensor> tensors;
  std::uint64_t seed = 0;  // of missing inputs, and of random numbers
  int steps = 10;          // timed steps
  bool check = false;
  bool keep_outputs = false;
  CollectiveMoment moment = CollectiveMoment::start;
  std::function<void(std::string_view what)> progress = [](std::string_view) {};
};

struct RankPeak {
  std::int64_t planned_bytes = 0, measured_bytes = 0;  // of the arena
  std::int64_t scratch_bytes = 0;                      // of libraries, outside of it
  bool holds() const { return planned_bytes == measured_bytes; }
};

struct RankExecution {
  std::string mesh;             // "dp=2,tp=2"
  std::vector<RankPeak> peaks;  // by rank
  std::int64_t budget_bytes = 0;
  std::size_t launches = 0, kernels = 0, collectives = 0;  // of the first rank
  double step_ms_median = 0, step_ms_min = 0;              // of all ranks, one after another
  double collectives_ms = 0;                               // of the median step
  double predicted_ms = 0;     // of one rank, by the plan: a device for each
  std::vector<Tensor> values;  // whole outputs, results first, if keep_outputs is set

  // If a check was requested: of whole outputs, or of each rank's where the graph is a part.
  Accuracy accuracy;
  std::string reference;  // the values that they are compared with
  // Outputs that ranks hold alike, and the first that isn't alike within its dtype's rounding.
  std::string unlike;

  std::size_t worst() const;  // the rank with the largest planned peak
  bool holds() const;         // every rank's measured peak is the planned one
  bool agrees() const { return all_ok(accuracy.outputs) && unlike.empty(); }
};

// The ranks of a whole graph: each has its parts of the inputs' values, and the gathered outputs are
// compared with those of the whole graph in f64. Fails on bad data, and as `prepare` does.
Result<RankExecution> run_sharded(const mesh::DistributedModule& module,
                                  const mesh::ShardedGraph& sharded, const RankDocuments& documents,
                                  const RankSteps& steps, const RankExecutionRequest& request);

// The ranks of a graph that is one's part already: rank r draws missing inputs from seed + r, and
// each rank's outputs are compared with those of the interpreter in lockstep, in f64.
Result<RankExecution> run_given(const mesh::DeviceMesh& mesh, const RankDocuments& documents,
                                const RankSteps& steps, const RankExecutionRequest& request);

}  // namespace recut
