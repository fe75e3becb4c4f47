#include "gui/app/scheduling.h"

#include <fmt/core.h>

#include <utility>

#include "gui/jobs/errands.h"

namespace recut::gui {

bool wants_schedule(const App& app, const DocumentView& document, const Scheduling& scheduling) {
  if (scheduling.plan == document.shown) return false;
  return scheduling.at_work != document.shown || !app.jobs.is_alive(scheduling.job);
}

void prepare_schedule(App& app, DocumentView& document) {
  Scheduling& scheduling = scheduling_of(document);
  if (!wants_schedule(app, document, scheduling)) return;
  app.jobs.cancel(scheduling.job);
  scheduling.at_work = document.shown;
  const auto take = [&app, serial = document.serial, plan = document.shown](
                        JobControl& control, Result<Schedule> schedule) {
    Result<SharedSchedule> view = SharedSchedule();
    if (schedule)
      view = SharedSchedule(std::make_shared<const ScheduleView>(plan, std::move(*schedule)));
    else
      view = schedule.diagnostics();
    control.post([&app, serial, plan, view] {
      if (DocumentView* document = app.documents.find(serial)) take_schedule(*document, plan, view);
    });
  };
  scheduling.job = app.jobs.start(scheduling_job(fmt::format("Scheduling {}", document.title),
                                                 helper_file(document), document.shown, take));
}

}  // namespace recut::gui
