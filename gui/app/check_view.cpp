#include "gui/app/check_view.h"

#include <fmt/core.h>

#include <algorithm>

#include "gui/app/app.h"
#include "gui/backend/paths.h"
#include "gui/jobs/worker_requests.h"

namespace recut::gui {
Result<PlanCheck> plan_check(Backend& backend, const PlanView& plan, const CheckInputs& inputs) {
  PlanCheck check{plan.planned.plan, inputs.bytes, file_name(inputs.path), inputs.seed};
  if (inputs.path.empty() || inputs.bytes) return check;
  auto read = backend.read(inputs.path);
  if (!read && !inputs.may_lack) return read.diagnostics();
  if (read) check.tensors = std::make_shared<const std::string>(std::move(*read));
  return check;
}

std::size_t CheckReport::differing() const {
  return static_cast<std::size_t>(std::count_if(
      outputs.begin(), outputs.end(), [](const OutputComparison& output) { return !output.ok(); }));
}

CheckView& check_view(DocumentView& document) {
  return memory_of<CheckView>(document.memories, kCheckMemory);
}

std::string tensors_beside(const std::string& path) {
  std::string stem = path;
  for (const std::string_view ending : {".gz", ".json", ".recut"})
    if (stem.size() > ending.size() &&
        stem.compare(stem.size() - ending.size(), ending.size(), ending) == 0)
      stem.resize(stem.size() - ending.size());
  return stem + ".safetensors";
}

void start_check(App& app, DocumentView& document, const CheckInputs& inputs) {
  CheckView& view = check_view(document);
  app.jobs.cancel(view.job);
  view.faults.clear();
  std::function<Result<PlanCheck>()> find = [&app, plan = document.shown, inputs] {
    return plan_check(app.backend, *plan, inputs);
  };
  if (app.jobs.helped()) {
    const auto check = find();
    if (!check) {
      view.faults = check.diagnostics();
      return;
    }
    find = [check] { return check; };
  }
  const auto take = [&app, serial = document.serial, plan = document.shown, inputs](
                        JobControl& control, Result<CheckFigures> figures) {
    control.post([&app, serial, plan, inputs, figures = std::move(figures)] {
      DocumentView* document = app.documents.find(serial);
      if (document == nullptr) return;
      CheckView& view = check_view(*document);
      if (figures)
        view.report = std::make_shared<const CheckReport>(CheckReport{*figures, plan, inputs});
      if (!figures) view.faults = figures.diagnostics();
    });
  };
  Job job = checking_job(fmt::format("Checking {}", document.title), helper_file(document),
                         document.document, find, take);
  view.job = app.jobs.start(std::move(job));
}

}  // namespace recut::gui
