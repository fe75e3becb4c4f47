// A training as a page runs it, in node: by one plan, with a run of the step in the midst of it,
// and on by another plan. Prints every loss to the bit.
//
// usage: node recut_train_smoke.js FILE sgd|adam|adamw STEPS
//
// Ends with 0 where each plan's measured peak is the planned one, with 1 where it isn't, with 2
// where it can't be run.

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>

#include "gui/app/recipe.h"
#include "gui/app/training_session.h"
#include "wasm/smoke/plan.h"
#include "wasm/step/page_runner.h"

namespace {

using recut::Done;
using recut::Result;
using recut::gui::ScheduledStep;
using SharedDocument = std::shared_ptr<const recut::Document>;

Result<SharedDocument> opened(const std::string& path, const std::string& optimizer) {
  const auto choice = recut::gui::optimizer_choice(optimizer, "");
  if (!choice) return choice.diagnostics();
  recut::gui::Recipe recipe;
  recipe.optimizer = *choice;
  const auto options = recut::gui::options_of(recipe);
  if (!options) return options.diagnostics();
  auto document = recut::open_document(path, *options);
  if (!document) return document.diagnostics();
  return SharedDocument(std::make_shared<const recut::Document>(std::move(*document)));
}

class Training {
 public:
  Training(SharedDocument document, int steps) : document_(std::move(document)), steps_(steps) {}

  Result<Done> begin() {
    auto session = recut::gui::TrainingSession::begin(document_, 1);
    if (!session) return session.diagnostics();
    session_ = std::move(*session);
    return Done{};
  }

  // `runs`: the step runs by itself, too, after half of the steps.
  Result<Done> go_by(const std::string& budget, bool runs) {
    const auto plan = recut::smoke::scheduled(*document_, budget);
    if (!plan) return plan.diagnostics();
    return recut::smoke::with_step(*document_, *plan, [&](const ScheduledStep& step) {
      auto compiled = session_->compile(step, budget, runner_);
      if (!compiled) return Result<Done>(compiled.diagnostics());
      auto done = advance();
      if (done && runs) done = run(step);
      return done ? advance() : done;
    });
  }

  bool holds() const { return holds_; }

 private:
  Result<Done> advance() {
    recut::gui::TrainingOrder order;
    order.steps = steps_ / 2;
    order.seconds = std::numeric_limits<double>::infinity();
    const auto figures = session_->advance(order);
    if (!figures) return figures.diagnostics();
    for (const double loss : figures->losses) fmt::print("{}\n", loss);
    fmt::print(stderr, "{}: {:.3f} ms a step, peak {} bytes planned, {} bytes measured\n",
               figures->where, figures->step_ms, figures->planned_peak_bytes,
               figures->measured_peak_bytes);
    holds_ = holds_ && figures->planned_peak_bytes == figures->measured_peak_bytes;
    return Done{};
  }

  Result<Done> run(const ScheduledStep& step) {
    recut::gui::StepOrder order;
    order.steps = 1;
    const auto ran = runner_.run(step, order, [](double, const std::string&) { return true; });
    if (!ran) return ran.diagnostics();
    return Done{};
  }

  SharedDocument document_;
  int steps_;
  recut::step::PageRunner runner_;
  std::unique_ptr<recut::gui::TrainingSession> session_;
  bool holds_ = true;
};

Result<bool> train(const std::string& path, const std::string& optimizer, int steps) {
  auto document = opened(path, optimizer);
  if (!document) return document.diagnostics();
  Training training(std::move(*document), steps);
  auto done = training.begin();
  if (done) done = training.go_by("none", true);
  if (done) done = training.go_by("least", false);
  if (!done) return done.diagnostics();
  return training.holds();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: recut_train_smoke FILE sgd|adam|adamw STEPS\n", stderr);
    return 2;
  }
  const auto holds = train(argv[1], argv[2], std::atoi(argv[3]));
  if (!holds) {
    std::fputs(recut::format(holds.diagnostics()).c_str(), stderr);
    return 2;
  }
  return *holds ? 0 : 1;
}
