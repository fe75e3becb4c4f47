// A training as a page runs it: by one plan, with a run of the step in between, and on by another
// plan. Writes every loss to OUT, to the bit. It passes where each plan's measured peak is the
// planned one.

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>

#include "engine/workspace/open_document.h"
#include "gui/jobs/training_session.h"
#include "gui/model/transform_settings.h"
#include "wasm/smoke/commands.h"
#include "wasm/smoke/plan.h"
#include "wasm/step/page_executor.h"

namespace recut::smoke {
namespace {

using SharedDocument = std::shared_ptr<const Document>;

Result<SharedDocument> opened(const std::string& path, const std::string& optimizer) {
  const auto choice = gui::read_optimizer(optimizer, "");
  if (!choice) return choice.diagnostics();
  gui::TransformSettings transforms;
  transforms.optimizer = *choice;
  const auto options = gui::options_of(transforms);
  if (!options) return options.diagnostics();
  auto document = open_document(path, *options);
  if (!document) return document.diagnostics();
  return SharedDocument(std::make_shared<const Document>(std::move(*document)));
}

class Training {
 public:
  Training(SharedDocument document, int steps) : document_(std::move(document)), steps_(steps) {}

  Result<Done> begin() {
    auto session = gui::TrainingSession::begin(document_, 1);
    if (!session) return session.diagnostics();
    session_ = std::move(*session);
    return Done{};
  }

  // `runs`: the step also runs by itself after half of the steps.
  Result<Done> go_by(const std::string& budget, bool runs) {
    const auto plan = scheduled(*document_, budget);
    if (!plan) return plan.diagnostics();
    return with_step(*document_, *plan, [&](const ScheduledStep& step) {
      auto compiled = session_->compile(step, budget, executor_);
      if (!compiled) return Result<Done>(compiled.diagnostics());
      auto done = advance();
      if (done && runs) done = run(step);
      return done ? advance() : done;
    });
  }

  bool holds() const { return holds_; }
  const std::string& losses() const { return losses_; }

 private:
  Result<Done> advance() {
    gui::TrainingOrder order;
    order.steps = steps_ / 2;
    order.seconds = std::numeric_limits<double>::infinity();
    const auto figures = session_->advance(order);
    if (!figures) return figures.diagnostics();
    for (const double loss : figures->losses) losses_ += fmt::format("{}\n", loss);
    fmt::print(stderr, "{}: {:.3f} ms a step, peak {} bytes planned, {} bytes measured\n",
               figures->where, figures->step_ms, figures->planned_peak_bytes,
               figures->measured_peak_bytes);
    holds_ = holds_ && figures->planned_peak_bytes == figures->measured_peak_bytes;
    return Done{};
  }

  Result<Done> run(const ScheduledStep& step) {
    StepRunOptions order;
    order.steps = 1;
    const auto ran =
        executor_.run(step, order, [](StepPhase, double, const std::string&) { return true; });
    if (!ran) return ran.diagnostics();
    return Done{};
  }

  SharedDocument document_;
  int steps_;
  step::PageExecutor executor_;
  std::unique_ptr<gui::TrainingSession> session_;
  bool holds_ = true;
  std::string losses_;
};

Result<bool> trained(CommandArguments given) {
  auto document = opened(given[0], given[1]);
  if (!document) return document.diagnostics();
  Training training(std::move(*document), std::atoi(given[2].c_str()));
  auto done = training.begin();
  if (done) done = training.go_by("none", true);
  if (done) done = training.go_by("least", false);
  if (done) done = write_text(given[3], training.losses());
  if (!done) return done.diagnostics();
  return training.holds();
}

}  // namespace

int train_command(CommandArguments given) {
  const auto holds = trained(given);
  if (!holds) {
    std::fputs(format(holds.diagnostics()).c_str(), stderr);
    return 2;
  }
  return *holds ? 0 : 1;
}

}  // namespace recut::smoke
