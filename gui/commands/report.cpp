// The report of the shown plan, as `recut report` writes it; beside the pinned baseline, if there
// is one.
#include <fmt/core.h>

#include "engine/cost/measured_kernels.h"
#include "gui/app/app.h"
#include "gui/app/conditions.h"
#include "gui/backend/paths.h"
#include "gui/model/command_line.h"
#include "gui/model/schedule_view.h"
#include "gui/report/html_report.h"

namespace recut::gui {
namespace {

// As a file's name: whatever a model is called.
std::string plain(std::string name) {
  for (char& c : name) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_' || c == '.';
    if (!good) c = '_';
  }
  constexpr std::size_t kLongest = 100;
  return name.substr(0, kLongest);
}

Result<Done> write_report(App& app, std::string_view path) {
  const DocumentView& document = *app.document();
  HtmlReport report;
  report.file = file_name(document.path);
  report.passes = &document.document->passes;
  report.digest = graph_digest(document.document->passes.input);
  report.command = report_command_line(document);
  PlanReport shown = document.shown->report();
  shown.arena_bytes = arena_bytes(document);
  report.plans.push_back(&shown);
  const SharedPlanView baseline = document.baseline.plan;
  if (baseline && baseline != document.shown) report.plans.push_back(&baseline->report());
  if (document.curve) report.curve = &document.curve->report;
  const std::string target =
      path.empty() ? plain(document.title) + "-report.html" : std::string(path);
  const Result<Done> written = app.backend.write(target, html_report(report));
  if (!written) return written.diagnostics();
  app.say("Wrote " + target);
  return Done{};
}

constexpr Command kReportRows[] = {
    {"file.report", "Write a report of the plan", "Ctrl+Shift+E", "where to: report.html", has_plan,
     write_report},
};

}  // namespace

std::span<const Command> report_commands() { return kReportRows; }

}  // namespace recut::gui
