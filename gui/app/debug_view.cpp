#include "gui/app/debug_view.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/support/units.h"
#include "engine/workspace/rerun.h"
#include "gui/app/app.h"
#include "gui/app/run_target.h"
#include "gui/jobs/bundle_job.h"

namespace recut::gui {
namespace {

std::string memory_finding(const char* what, std::int64_t measured, std::int64_t planned) {
  return fmt::format("{}: {} B measured, {} B planned\n", what, format_count(measured),
                     format_count(planned));
}

std::string finding_of(const RunReport& run) {
  std::string text;
  if (run.agreement && !run.agreement->agrees())
    text += fmt::format("DIFFERS: {}\n", run.agreement->problem);
  if (run.measured_peak_bytes != run.planned_peak_bytes)
    text += memory_finding("arena", run.measured_peak_bytes, run.planned_peak_bytes);
  return text;
}

std::string finding_of(const CheckReport& check) {
  std::string text;
  for (const OutputComparison& output : check.outputs)
    if (!output.ok())
      text += fmt::format("{}: DIFFERS: {}\n", output.name, output.comparison.problem);
  if (check.measured_peak_bytes != check.planned_peak_bytes())
    text += memory_finding("peak", check.measured_peak_bytes, check.planned_peak_bytes());
  return text;
}

// In the eager model the budget bounds the values alone, while the command's bounds the arena.
void note_arena(const DocumentView& document, DebugRequest& request) {
  if (!arena_is_beyond(document)) return;
  request.notes.push_back(fmt::format(
      "the window's plan has an arena of {}, above its budget of {}: run.sh plans for less",
      format_bytes(arena_bytes(document)), format_bytes(document.plan_settings.budget_bytes)));
}

// The shown plan, with no rerun yet.
Result<BundleTask> task_of(const App& app, const DocumentView& document, std::uint64_t seed) {
  if (document.mesh)
    return error(
        "the graph is that of one rank, which doesn't run alone: remove the mesh, or save it by "
        "recut shard");
  const PlanningRequest& request = document.shown->request;
  if (document.shown != document.known.made_for(request.budget))
    return error("the plan for this budget is still being made: save the bundle once it is shown");
  BundleTask task;
  task.request.scheduling.planning = request;
  task.request.seed = seed;
  task.request.with_data = app.settings.flag(kDebugData, false);
  return task;
}

using FindTask = std::function<Result<BundleTask>()>;

Result<Done> start_bundle(App& app, DocumentView& document, FindTask find,
                          const std::string& path) {
  if (app.jobs.helped()) {
    const auto task = find();
    if (!task) return task.diagnostics();
    find = [task] { return task; };
  }
  DebugView& view = debug_view(document);
  app.jobs.cancel(view.job);
  view.written.clear();
  const auto take = [&app, path, serial = document.serial](JobControl& control,
                                                           Result<DebugBundle> bundle) {
    if (control.cancelled()) return;
    const auto written = bundle ? app.backend.write_folder(path, bundle->files)
                                : Result<std::string>(bundle.diagnostics());
    std::string notes;
    if (bundle)
      for (const std::string& note : bundle->notes) notes += "; note: " + note;
    control.post([&app, serial, written, notes] {
      app.note_outcome("debug.save",
                       written ? Result<Done>(Done{}) : Result<Done>(written.diagnostics()));
      if (written) app.say(fmt::format("Wrote {}: run.sh in it runs it again{}", *written, notes));
      DocumentView* document = app.documents.find(serial);
      if (document != nullptr && written) debug_view(*document).written = *written;
    });
  };
  view.job =
      app.jobs.start(bundle_job(fmt::format("Debug bundle of {}", document.title),
                                helper_file(document), document.document, std::move(find), take));
  return Done{};
}

}  // namespace

DebugView& debug_view(DocumentView& document) {
  return memory_of<DebugView>(document.memories, kDebugMemory);
}

bool failed(const RunReport& run) { return !finding_of(run).empty(); }
bool failed(const CheckReport& check) { return !finding_of(check).empty(); }

std::shared_ptr<const CheckReport> shown_check(const DocumentView& document) {
  const auto* view = find_memory<CheckView>(document.memories, kCheckMemory);
  const bool shown =
      view != nullptr && view->report != nullptr && view->report->plan == document.shown;
  return shown ? view->report : nullptr;
}

Result<Done> save_run_bundle(App& app, DocumentView& document, const std::string& path) {
  auto task = task_of(app, document, StepRunOptions().seed);
  if (!task) return task.diagnostics();
  if (const SharedRun run = shown_run(document)) task->request.finding = finding_of(*run);
  note_arena(document, task->request);
  const Executor* executor = chosen_executor(app);
  const auto done =
      rerun_by_run(task->request, document.shown->request.device,
                   executor != nullptr ? executor->run_words() : std::vector<std::string>());
  if (!done) return done;
  return start_bundle(
      app, document, [task] { return task; }, path);
}

// Wrong outputs come from the passes or from the plan. Where the file of tensors has the expected
// ones, they are compared again; elsewhere the passes are bisected, on the same seed.
Result<Done> save_check_bundle(App& app, DocumentView& document, const std::string& path) {
  const auto check = shown_check(document);
  auto task = task_of(app, document, check->of.seed);
  if (!task) return task.diagnostics();
  task->request.finding = finding_of(*check);
  if (!check->agrees() && !check->given) {
    rerun_by_bisect(task->request, *document.document);
  } else {
    const auto done = rerun_by_eval(task->request, document.shown->request.device, check->given);
    if (!done) return done;
  }
  const auto find = [&app, check, task = *task]() -> Result<BundleTask> {
    const auto inputs = plan_check(app.backend, *check->plan, check->of);
    if (!inputs) return inputs.diagnostics();
    BundleTask whole = task;
    whole.tensors = inputs->tensors;
    whole.tensors_name = inputs->tensors_name;
    return whole;
  };
  return start_bundle(app, document, find, path);
}

}  // namespace recut::gui
