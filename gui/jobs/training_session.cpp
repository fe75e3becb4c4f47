#include "gui/jobs/training_session.h"

#include <chrono>
#include <cmath>
#include <utility>

#include "engine/support/check.h"
#include "engine/support/clock.h"
#include "engine/workspace/compile.h"

namespace recut::gui {

Result<std::unique_ptr<TrainingSession>> TrainingSession::begin(
    std::shared_ptr<const Document> document, std::uint64_t seed) {
  RECUT_CHECK(document->loss.has_value(), "what trains is a training step");
  TrainingInit start;
  start.tensors = document->file.tensors;
  start.seed = seed;
  auto state = TrainingState::begin(document->graph(), *document->loss, start);
  if (!state) return state.diagnostics();
  return std::unique_ptr<TrainingSession>(
      new TrainingSession(std::move(document), std::move(*state)));
}

Result<double> TrainingSession::compile(const ScheduledStep& scheduled, std::string plan,
                                        Executor& executor) {
  const Clock::time_point began = Clock::now();
  const auto options = executor.program_options();
  if (!options) return options.diagnostics();
  auto program = program_of(scheduled, *options);
  if (!program) return program.diagnostics();
  trainer_.reset();  // and with it the arena: there is one at a time
  step_.run.reset();
  auto step = executor.prepare(std::move(*program),
                               [&](const Program& read) { return state_.inputs_of(read); });
  if (!step) return step.diagnostics();
  step_ = std::move(*step);
  const double took = ms_since(began);
  auto trainer = std::make_unique<Trainer>(state_, *step_.run);
  const auto peak = trainer->measure_peak();
  if (!peak) return peak.diagnostics();
  measured_peak_bytes_ = *peak;
  trainer_ = std::move(trainer);
  plan_ = std::move(plan);
  executor_ = &executor;
  return took;
}

Result<TrainingFigures> TrainingSession::advance(const TrainingOrder& order) {
  RECUT_CHECK(trainer_ != nullptr, "a plan is compiled before it is trained by");
  TrainingFigures figures;
  figures.where = executor_->where();
  figures.first = state_.steps();
  figures.planned_peak_bytes = step_.run->program().arena_bytes;
  figures.measured_peak_bytes = measured_peak_bytes_;
  const Clock::time_point began = Clock::now();
  for (int i = 0; i < order.steps && ms_since(began) < 1e3 * order.seconds; ++i) {
    trainer_->load_batch();
    const auto loss = trainer_->step();
    if (!loss) return loss.diagnostics();
    figures.losses.push_back(*loss);
    if (!std::isfinite(*loss)) break;
  }
  figures.step_ms = ms_since(began) / static_cast<double>(figures.losses.size());
  return figures;
}

}  // namespace recut::gui
