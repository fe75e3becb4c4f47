#include "native/cpu/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/autodiff/optimizer.h"
#include "engine/support/check.h"
#include "engine/workspace/trainer.h"
#include "native/cpu/clock.h"
#include "native/cpu/step.h"

namespace recut::cpu {
namespace {

// Inputs by what they are, and those that were trained.
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
    trainer.bring_batch();
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

Result<Training> train(const Document& document, const ScheduledPlan& scheduled,
                       const TrainingRequest& request) {
  const Graph& graph = document.graph();
  RECUT_CHECK(document.loss.has_value(), "a document of a training step");
  auto state =
      TrainingState::begin(graph, *document.loss, {request.tensors, request.seed, request.batches});
  if (!state) return state.diagnostics();
  Training training;
  const Clock::time_point began = Clock::now();
  auto program = make_program(graph, *scheduled.kernels, scheduled.schedule,
                              {.library = true, .library_takes = onednn_takes});
  if (!program) return program.diagnostics();
  const auto step = Step::compile(std::move(*program));
  if (!step) return step.diagnostics();
  auto run = Run::prepare(*step, state->read_by(step->program()), request.threads);
  if (!run) return run.diagnostics();
  training.compile_ms = ms_since(began);
  training.planned_peak_bytes = step->program().arena_bytes;
  training.scratch_bytes = run->scratch_bytes();
  Trainer trainer(*state, *run);
  if (auto done = make_steps(trainer, request, training); !done) return done.diagnostics();
  report(*state, training);
  return training;
}

}  // namespace recut::cpu
