// The schedule of the shown plan: its kernels, and the arena that its buffers take.
#include <fmt/core.h>

#include <utility>

#include "gui/jobs/planner.h"
#include "gui/jobs/worker_requests.h"
#include "gui/model/schedule_view.h"

namespace recut::gui {

bool Planner::wants_schedule(const DocumentView& document) const {
  const auto* scheduling = find_memory<Scheduling>(document.memories, kScheduleMemory);
  if (scheduling == nullptr) return true;
  if (scheduling->plan == document.shown) return false;
  return !scheduling->awaited || scheduling->at_work != document.shown ||
         !jobs_.is_alive(scheduling->job);
}

void Planner::schedule(DocumentView& document) {
  if (wants_schedule(document)) start_schedule(document, true);
}

// Schedules the shown plan once no other job of the document runs, and not in a frame; panels that
// need the schedule at once request it themselves.
void Planner::schedule_at_leisure(DocumentView& document) {
  if (!document.shown || !(backend_.has_threads() || jobs_.helped())) return;
  for (const JobId job : {document.planning, document.viewing, document.weighing, document.sweeping,
                          document.reasoning})
    if (jobs_.is_alive(job)) return;
  const Scheduling& scheduling = scheduling_of(document);
  const bool at_work = scheduling.at_work == document.shown && jobs_.is_alive(scheduling.job);
  if (scheduling.plan != document.shown && !at_work) start_schedule(document, false);
}

void Planner::start_schedule(DocumentView& document, bool awaited) {
  Scheduling& scheduling = scheduling_of(document);
  jobs_.cancel(scheduling.job);
  scheduling.at_work = document.shown;
  scheduling.awaited = awaited;
  const auto take = [this, serial = document.serial, plan = document.shown](
                        JobControl& control, Result<Schedule> schedule) {
    Result<SharedSchedule> view = SharedSchedule();
    if (schedule)
      view = SharedSchedule(std::make_shared<const ScheduleView>(plan, std::move(*schedule)));
    else
      view = schedule.diagnostics();
    post(control, serial,
         [plan, view](DocumentView& document) { take_schedule(document, plan, view); });
  };
  Job job = scheduling_job(fmt::format("Scheduling {}", document.title), helper_file(document),
                           document.shown, take);
  job.urgent = awaited;
  job.quiet = !awaited;
  scheduling.job = jobs_.start(std::move(job));
}

}  // namespace recut::gui
