// The command that writes the report of the shown plan, as `recut report` does, with the pinned
// baseline, if there is one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/cost/measured_kernels.h"
#include "engine/passes/stages.h"
#include "engine/support/shell_word.h"
#include "gui/app/app.h"
#include "gui/app/conditions.h"
#include "gui/backend/paths.h"
#include "gui/model/document_view.h"
#include "gui/model/schedule_view.h"
#include "gui/report/html_report.h"

namespace recut::gui {
namespace {

// The options for the passes that ran; "" for the default passes.
std::string pass_options(const DocumentView& document) {
  const TransformSettings& transforms = document.applied_transforms;
  const std::string stages =
      transforms.stages.empty() ? "" : " --stage " + stages_text(transforms.stages);
  if (transforms.freeze)
    return transforms.off.empty()
               ? stages + " --freeze"
               : stages + " --freeze --skip " +
                     shell_word(fmt::format("{}", fmt::join(transforms.off, ",")));
  if (transforms.on.empty() && transforms.off.empty()) return stages;
  std::string names;
  for (const PassReport& pass : document.whole().passes.passes)
    if (!pass.skipped) names += (names.empty() ? "" : ",") + pass.name;
  return names.empty() ? " --no-passes" : " --passes " + shell_word(names);
}

// The command that writes the report of the window's state: "recut report gpt2.json.gz --budget
// 4563402752 --device h100", to be run beside the file. "" if no single command does: the window
// differentiated the graph, gave it an optimiser or rules, or froze it with more passes.
// `document.shown` is there.
std::string report_command_line(const DocumentView& document) {
  const TransformSettings& transforms = document.applied_transforms;
  if (transforms.differentiate || transforms.optimizer || transforms.rules) return "";
  if (transforms.freeze && !transforms.on.empty()) return "";
  const PlanReport& plan = document.shown->report();
  std::string line = "recut report " + shell_word(file_name(document.path));
  const auto option = [&](const std::string& name, const std::string& value) {
    line += fmt::format(" {} {}", name, shell_word(value));
  };
  const std::string& key = document.document->file.key;
  if (!key.empty() && key != kDefaultGraphKey) option("--graph", key);
  for (const auto& [name, size] : transforms.dimensions)
    option("--dim", fmt::format("{}={}", name, size));
  line += pass_options(document);
  if (transforms.mesh) {
    option("--mesh", transforms.mesh->axes);
    if (!transforms.mesh->preset.empty()) option("--preset", transforms.mesh->preset);
  }
  if (plan.strategy != "peak") option("--strategy", plan.strategy);
  option("--budget", plan.budget);
  if (plan.device != kReferenceDevice) option("--device", plan.device);
  if (plan.cost_model != "eager") option("--model", plan.cost_model);
  const PlanSettings& plan_settings = document.plan_settings;
  if (plan_settings.effort != 1) option("--effort", fmt::format("{}", plan_settings.effort));
  for (const std::string& name : plan_settings.overrides.save) option("--save", name);
  for (const std::string& name : plan_settings.overrides.recompute) option("--recompute", name);
  if (plan_settings.overrides.ignore_checkpoints) line += " --ignore-checkpoints";
  for (const std::string& setting : plan_settings.torch) option("--torch", setting);
  return line;
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
      path.empty() ? plain_name(document.title) + "-report.html" : std::string(path);
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
