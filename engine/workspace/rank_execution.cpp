#include "engine/workspace/rank_execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "engine/eval/compare.h"
#include "engine/eval/double_graph.h"
#include "engine/eval/inputs.h"
#include "engine/mesh/lockstep.h"
#include "engine/mesh/redistribute.h"
#include "engine/mesh/spmd/spmd_evaluation.h"
#include "engine/runtime/step_execution.h"
#include "engine/support/text.h"

namespace recut {
namespace {

// The runs of all ranks, and their communicators.
class RankRuns {
 public:
  static Result<RankRuns> prepare(const RankDocuments& documents, const RankSteps& steps,
                                  const std::vector<Inputs>& inputs,
                                  const RankExecutionRequest& request) {
    std::vector<RankSide> sides;
    for (const auto& rank : steps.ranks)
      sides.push_back({&rank->document->graph(), &rank->program});
    auto ranks = LocalRanks::connect(std::move(sides), documents.groups, request.moment);
    if (!ranks) return ranks.diagnostics();
    RankRuns runs(std::move(*ranks));
    for (std::size_t r = 0; r < steps.ranks.size(); ++r) {
      const RankStep& step = *steps.ranks[r];
      auto run = request.prepare(step.program,
                                 kernel_inputs(step.document->graph(), step.program, inputs[r]));
      if (!run) return with_rank(r, run.diagnostics());
      runs.pointers_.push_back(run->get());
      runs.runs_.push_back(std::move(*run));
    }
    return runs;
  }

  Result<LockstepTime> run(std::uint64_t seed) { return run_lockstep(ranks_, pointers_, seed); }

  // Runs two steps in painted arenas (measurement.h has the same for one rank).
  Result<std::vector<RankPeak>> measure_peaks(std::uint64_t seed) {
    std::vector<RankPeak> peaks(runs_.size());
    for (const auto paint : {std::byte{0x5a}, std::byte{0xa5}}) {
      for (const auto& run : runs_) run->paint(paint);
      if (auto done = run(seed); !done) return done.diagnostics();
      for (std::size_t r = 0; r < runs_.size(); ++r)
        peaks[r].measured_bytes =
            std::max(peaks[r].measured_bytes, runs_[r]->end_of_written(paint));
    }
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      peaks[r].planned_bytes = runs_[r]->program().arena_bytes;
      peaks[r].scratch_bytes = runs_[r]->scratch_bytes();
    }
    return peaks;
  }

  std::vector<std::vector<Tensor>> outputs() const {
    std::vector<std::vector<Tensor>> outputs;
    for (const auto& run : runs_) outputs.push_back(run->outputs());
    return outputs;
  }

 private:
  explicit RankRuns(LocalRanks ranks) : ranks_(std::move(ranks)) {}

  LocalRanks ranks_;
  std::vector<std::unique_ptr<RankRun>> runs_;
  std::vector<RankRun*> pointers_;
};

double predicted_ms(const Program& program) {
  double micros = 0;
  for (const Launch& launch : program.launches) micros += launch.predicted_us;
  for (const CollectiveStep& step : program.collectives) micros += step.predicted_us;
  return 1e-3 * micros;
}

// Peaks and times of all ranks, and the outputs of each.
Result<std::vector<std::vector<Tensor>>> measure(const RankDocuments& documents,
                                                 const RankSteps& steps,
                                                 const std::vector<Inputs>& inputs,
                                                 const RankExecutionRequest& request,
                                                 RankExecution& execution) {
  request.progress("compiling");
  auto runs = RankRuns::prepare(documents, steps, inputs, request);
  if (!runs) return runs.diagnostics();
  request.progress("running");
  auto peaks = runs->measure_peaks(request.seed);
  if (!peaks) return peaks.diagnostics();
  execution.peaks = std::move(*peaks);
  std::vector<LockstepTime> times;
  for (int i = 0; i < request.steps; ++i) {
    const auto time = runs->run(request.seed);
    if (!time) return time.diagnostics();
    times.push_back(*time);
  }
  std::stable_sort(times.begin(), times.end(), [](const LockstepTime& a, const LockstepTime& b) {
    return a.seconds < b.seconds;
  });
  const LockstepTime& median = times[times.size() / 2];
  execution.step_ms_median = 1e3 * median.seconds;
  execution.collectives_ms = 1e3 * median.in_collectives;
  execution.step_ms_min = 1e3 * times.front().seconds;
  const Program& program = steps.ranks[documents.first]->program;
  execution.launches = program.launches.size();
  execution.kernels = program.kernels.size() + program.library.size();
  execution.collectives = static_cast<std::size_t>(
      std::count_if(program.collectives.begin(), program.collectives.end(),
                    [](const CollectiveStep& step) { return !step.started; }));
  execution.predicted_ms = predicted_ms(program);
  execution.budget_bytes = steps.scheduled.planned.report.budget_bytes;
  return runs->outputs();
}

// The first rank whose copy of an output's part differs from another's by more than rounding.
std::string unlike_ranks(const mesh::DistributedTensor& output, std::string_view name) {
  if (output.sharding.has_partial()) return "";
  std::map<std::pair<std::vector<std::int64_t>, Shape>, std::size_t> first;
  for (std::size_t p = 0; p < output.locals.size(); ++p) {
    const mesh::Block block =
        mesh::local_block(output.type.shape, output.sharding, output.mesh,
                          output.mesh.coordinate_at(static_cast<std::int64_t>(p)));
    const auto [at, added] = first.emplace(std::pair(block.offset, block.shape), p);
    if (added) continue;
    const Comparison found = compare(output.locals[p], output.locals[at->second]);
    if (!found.ok)
      return fmt::format("ranks {} and {} hold {} alike, and have different values: {}",
                         output.mesh.ranks()[p], output.mesh.ranks()[at->second], quote(name),
                         found.problem);
  }
  return "";
}

Result<Done> gather(const std::vector<std::optional<mesh::DistributedTensor>>& outputs,
                    const Graph& whole, RankExecution& execution) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    execution.values.emplace_back();
    if (!outputs[i]) continue;
    const bool gradient = i >= whole.results.size();
    const NodeId id = gradient ? whole.gradients[i - whole.results.size()] : whole.results[i];
    if (execution.unlike.empty()) execution.unlike = unlike_ranks(*outputs[i], whole.node_name(id));
    mesh::Traffic traffic(outputs[i]->mesh.size());
    auto full = mesh::full_tensor(*outputs[i], traffic);
    if (!full) return full.diagnostics();
    execution.values.back() = std::move(*full);
  }
  return Done{};
}

// All ranks' evaluations by the interpreter, one rank's outputs after another's.
class InterpretedRanks {
 public:
  InterpretedRanks(const Graph& graph, const mesh::GroupTable& groups,
                   const std::vector<Inputs>& inputs, std::uint64_t seed)
      : graph_(graph), groups_(groups), inputs_(inputs), seed_(seed) {}

  Result<std::vector<Tensor>> evaluate(const EvaluationForm& form) const {
    EvaluateOptions options;
    options.seed = seed_;
    std::optional<DoubleGraph> in_f64;
    if (form.f64) in_f64.emplace(graph_);
    if (form.random_share) options.rounding = RandomRounding{seed_, *form.random_share};
    std::vector<mesh::RankProgram> programs;
    for (const Inputs& inputs : inputs_) {
      if (in_f64)
        programs.push_back({&in_f64->graph(), in_f64->inputs(inputs)});
      else
        programs.push_back(
            {&graph_, form.random_share ? perturbed(inputs, seed_, *form.random_share) : inputs});
    }
    auto ranks = mesh::evaluate_ranks(programs, groups_, options);
    if (!ranks) return ranks.diagnostics();
    std::vector<Tensor> outputs;
    for (Evaluation& rank : *ranks)
      std::move(rank.outputs.begin(), rank.outputs.end(), std::back_inserter(outputs));
    return outputs;
  }

 private:
  const Graph& graph_;
  const mesh::GroupTable& groups_;
  const std::vector<Inputs>& inputs_;
  const std::uint64_t seed_;
};

std::vector<JudgedOutput> outputs_of_ranks(const Graph& graph, std::size_t ranks) {
  std::vector<JudgedOutput> outputs;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (const auto* list : {&graph.results, &graph.gradients})
      for (const NodeId id : *list)
        outputs.push_back(
            {fmt::format("rank {}: {}", rank, id.valid() ? graph.node_name(id) : "none"),
             list == &graph.gradients});
  return outputs;
}

}  // namespace

std::size_t RankExecution::worst() const {
  const auto largest = std::max_element(
      peaks.begin(), peaks.end(),
      [](const RankPeak& a, const RankPeak& b) { return a.planned_bytes < b.planned_bytes; });
  return static_cast<std::size_t>(largest - peaks.begin());
}

bool RankExecution::holds() const {
  return std::all_of(peaks.begin(), peaks.end(), [](const RankPeak& rank) { return rank.holds(); });
}

Result<RankExecution> run_sharded(const mesh::DistributedModule& module,
                                  const mesh::ShardedGraph& sharded, const RankDocuments& documents,
                                  const RankSteps& steps, const RankExecutionRequest& request) {
  const Graph& whole = module.graph();
  const mesh::DeviceMesh& mesh = module.mesh();
  const auto inputs = inputs_from(whole, request.tensors, request.seed);
  if (!inputs) return inputs.diagnostics();
  mesh::Traffic traffic(mesh.size());
  const auto parts = module.distribute_inputs(*inputs, traffic);
  if (!parts) return parts.diagnostics();
  std::vector<Inputs> of_ranks(steps.ranks.size());
  for (std::int64_t p = 0; p < mesh.size(); ++p) {
    const auto rank = static_cast<std::size_t>(mesh.ranks()[static_cast<std::size_t>(p)]);
    of_ranks[rank] = mesh::inputs_of_rank(whole, steps.ranks[rank]->document->graph(), *parts, p);
  }
  RankExecution execution;
  execution.mesh = format(mesh);
  const auto outputs = measure(documents, steps, of_ranks, request, execution);
  if (!outputs) return outputs.diagnostics();
  if (!request.check && !request.keep_outputs) return execution;
  if (auto done = gather(mesh::joined_outputs(module, sharded, *outputs), whole, execution); !done)
    return done.diagnostics();
  if (!request.check) return execution;
  request.progress("interpreting the whole graph, to compare");
  EvaluateOptions options;
  options.seed = request.seed;
  auto accuracy = judge_outputs(whole, *inputs, options, execution.values);
  if (!accuracy) return accuracy.diagnostics();
  execution.accuracy = std::move(*accuracy);
  execution.reference = "the whole graph's";
  return execution;
}

Result<RankExecution> run_given(const mesh::DeviceMesh& mesh, const RankDocuments& documents,
                                const RankSteps& steps, const RankExecutionRequest& request) {
  const Graph& graph = documents.planned().graph();
  std::vector<Inputs> of_ranks;
  for (std::size_t rank = 0; rank < steps.ranks.size(); ++rank) {
    auto inputs = inputs_from(graph, request.tensors, request.seed + rank);
    if (!inputs) return with_rank(rank, inputs.diagnostics());
    of_ranks.push_back(std::move(*inputs));
  }
  RankExecution execution;
  execution.mesh = format(mesh);
  auto outputs = measure(documents, steps, of_ranks, request, execution);
  if (!outputs) return outputs.diagnostics();
  for (std::vector<Tensor>& rank : *outputs)
    std::move(rank.begin(), rank.end(), std::back_inserter(execution.values));
  if (!request.check) return execution;
  request.progress("interpreting all ranks, to compare");
  const InterpretedRanks interpreted(graph, documents.groups, of_ranks, request.seed);
  const EvaluateForm evaluate = [&](const EvaluationForm& form) {
    return interpreted.evaluate(form);
  };
  auto accuracy =
      judge_outputs(outputs_of_ranks(graph, steps.ranks.size()), evaluate, execution.values);
  if (!accuracy) return accuracy.diagnostics();
  execution.accuracy = std::move(*accuracy);
  execution.reference = "the interpreter's ranks'";
  return execution;
}

}  // namespace recut
