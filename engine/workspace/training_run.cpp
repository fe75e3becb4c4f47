#include "engine/workspace/training_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/autodiff/optimizer.h"
#include "engine/support/check.h"
#include "engine/support/clock.h"
#include "engine/workspace/compile.h"
#include "engine/workspace/trainer.h"

namespace recut {
namespace {

// Reports the inputs by kind, and the trained ones.
void report(const TrainingState& state, Training& training) {
  const Graph& graph = state.step();
  const std::vector<NodeId> carried = carried_inputs(graph);
  for (const NodeId id : graph.inputs()) {
    const bool kept = std::find(carried.begin(), carried.end(), id) != carried.end();
    const bool parameter = graph.input_kind(id) == InputKind::parameter;
    (parameter ? training.parameter_bytes
     : kept    ? training.carried_bytes
               : training.data_bytes) += byte_size(graph.type(id));
    if (parameter || kept) training.trained.emplace_back(graph.node_name(id), state.input(id));
  }
}

Result<Done> make_steps(Trainer& trainer, const TrainingRequest& request, Training& training) {
  const auto touched = trainer.measure_peak();
  if (!touched) return touched.diagnostics();
  training.measured_peak_bytes = *touched;
  std::vector<double> times;
  for (int i = 0; i < request.steps; ++i) {
    trainer.load_batch();
    const Clock::time_point began = Clock::now();
    const auto loss = trainer.step();
    if (!loss) return loss.diagnostics();
    times.push_back(ms_since(began));
    training.losses.push_back(*loss);
    request.progress(i, *loss);
    if (!std::isfinite(*loss)) break;
  }
  std::sort(times.begin(), times.end());
  training.step_ms_min = times.front();
  training.step_ms_median = times[times.size() / 2];
  return Done{};
}

}  // namespace

Result<Training> train(const Document& document, const ScheduledPlan& scheduled, Executor& executor,
                       const TrainingRequest& request) {
  const Graph& graph = document.graph();
  RECUT_CHECK(document.loss.has_value(), "a document of a training step");
  auto state =
      TrainingState::begin(graph, *document.loss, {request.tensors, request.seed, request.batches});
  if (!state) return state.diagnostics();
  Training training;
  const Clock::time_point began = Clock::now();
  const auto options = executor.program_options();
  if (!options) return options.diagnostics();
  auto program = program_of(document, scheduled, *options);
  if (!program) return program.diagnostics();
  auto step = executor.prepare(std::move(*program),
                               [&](const Program& read) { return state->inputs_of(read); });
  if (!step) return step.diagnostics();
  training.compile_ms = ms_since(began);
  training.where = executor.where();
  training.planned_peak_bytes = step->run->program().arena_bytes;
  Trainer trainer(*state, *step->run);
  if (auto done = make_steps(trainer, request, training); !done) return done.diagnostics();
  training.scratch_bytes = step->run->scratch_bytes();
  report(*state, training);
  return training;
}

}  // namespace recut
