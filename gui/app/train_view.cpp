#include "gui/app/train_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/app/app.h"
#include "gui/app/run_target.h"

namespace recut::gui {
namespace {

void begin_anew(TrainView& view, const DocumentView& document) {
  const int number = view.number + 1;
  view = {};
  view.number = number;
  view.of = document.document;
  view.handle = std::make_shared<TrainingHandle>();
}

void add_losses(TrainView& view, const std::vector<double>& losses) {
  constexpr auto batches = static_cast<std::size_t>(TrainingInit().batches);
  for (const double loss : losses) {
    if (!std::isfinite(loss)) {
      view.losses.push_back(loss);
      return;
    }
    const bool first = view.losses.empty();
    view.least = first ? loss : std::min(view.least, loss);
    view.most = first ? loss : std::max(view.most, loss);
    view.losses.push_back(loss);
    const std::size_t count = std::min(batches, view.losses.size());
    double sum = 0;
    for (std::size_t i = view.losses.size() - count; i < view.losses.size(); ++i)
      sum += view.losses[i];
    view.means.push_back(sum / static_cast<double>(count));
  }
}

void take_steps(TrainView& view, TrainingFigures figures) {
  add_losses(view, figures.losses);
  const bool other_plan = figures.compile_ms != 0 || view.stretches.empty();
  if (other_plan) {
    view.compile_ms = figures.compile_ms;
    view.stretches.push_back(
        {figures.first, figures.planned_peak_bytes, figures.measured_peak_bytes});
  }
  figures.losses.clear();
  view.latest = std::move(figures);
}

void start_stretch(App& app, DocumentView& document, Executor& executor);

void go_on(App& app, DocumentView& document) {
  const TrainView& view = train_view(document);
  Executor* executor = chosen_executor(app);
  const bool over = view.ends || view.steps() >= view.until || view.diverged();
  if (!over && executor != nullptr && document.shown != nullptr && view.of == document.document)
    start_stretch(app, document, *executor);
}

// The next steps, by the shown plan now.
void start_stretch(App& app, DocumentView& document, Executor& executor) {
  TrainView& view = train_view(document);
  NextSteps next;
  next.number = view.number;
  next.first = view.steps();
  next.handle = view.handle;
  next.order.steps =
      static_cast<int>(std::min<std::int64_t>(next.order.steps, view.until - view.steps()));
  const auto take = [&app, serial = document.serial, number = view.number](
                        JobControl& control, SharedSchedule schedule,
                        Result<TrainingFigures> figures) {
    control.post(
        [&app, serial, number, schedule = std::move(schedule), figures = std::move(figures)] {
          DocumentView* document = app.documents.find(serial);
          if (document == nullptr) return;
          TrainView& view = train_view(*document);
          if (view.number != number) return;
          if (schedule != nullptr) take_schedule(*document, schedule->plan, schedule);
          if (!figures) view.faults = figures.diagnostics();
          if (!figures) return;
          take_steps(view, *figures);
          go_on(app, *document);
        });
  };
  view.job = app.jobs.start(
      training_job(fmt::format("Training {}", document.title), helper_file(document),
                   document.shown, shown_schedule(document), std::move(next), executor, take));
}

}  // namespace

bool TrainView::diverged() const { return !losses.empty() && !std::isfinite(losses.back()); }

TrainView& train_view(DocumentView& document) {
  return memory_of<TrainView>(document.memories, kTrainMemory);
}

const TrainView* shown_training(const DocumentView& document) {
  const auto* view = find_memory<TrainView>(document.memories, kTrainMemory);
  return view != nullptr && view->of != nullptr && view->of == document.document ? view : nullptr;
}

bool is_training(const App& app, const DocumentView& document) {
  const TrainView* view = shown_training(document);
  return view != nullptr && app.jobs.is_alive(view->job);
}

Result<Done> start_training(App& app, DocumentView& document, std::int64_t steps) {
  Executor* executor = chosen_executor(app);
  if (executor == nullptr)
    return error("this program can't run a step: it has nothing to run it on");
  if (!document.document->loss)
    return error("this step updates no parameters: choose an optimiser first");
  TrainView& view = train_view(document);
  if (is_training(app, document)) return error("it is being trained already");
  if (shown_training(document) == nullptr || !view.faults.empty()) begin_anew(view, document);
  if (view.diverged()) return error("the loss is no number any more: it has to begin again");
  view.ends = false;
  view.until = std::min(view.steps() + steps, kMaxTrainingSteps);
  if (view.until == view.steps())
    return error(fmt::format("it was trained for {} steps, and has to begin again", view.until));
  start_stretch(app, document, *executor);
  return Done{};
}

void stop_training(DocumentView& document) { train_view(document).ends = true; }

void forget_training(App& app, DocumentView& document) {
  TrainView& view = train_view(document);
  if (app.jobs.is_alive(view.job)) app.jobs.cancel(view.job);
  begin_anew(view, document);
}

}  // namespace recut::gui
