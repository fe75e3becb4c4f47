// recut report: a plan, the whole trade-off and the memory that is live, as one HTML file.
#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "engine/cost/measured_kernels.h"
#include "engine/workspace/curve.h"
#include "engine/workspace/scheduling.h"
#include "engine/workspace/sweep_document.h"
#include "gui/report/html_report.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"
#include "native/commands/plan_arguments.h"

namespace recut::native {
namespace {

struct ReportCommand {
  GraphArguments graph;
  PlanArguments plan;
  std::vector<std::string> compare;
  std::size_t points = 50;
  std::string out = "report.html";
};

// The requested plan, then the plans to compare it with; stops at the first failure.
Result<std::vector<Planned>> plan_all(const ReportCommand& command, const Document& document,
                                      const Console& console) {
  std::vector<Planned> plans;
  std::vector<std::string> budgets{command.plan.request().budget};
  budgets.insert(budgets.end(), command.compare.begin(), command.compare.end());
  for (const std::string& budget : budgets) {
    PlanArguments arguments = command.plan;
    arguments.budget = budget;
    auto planned = arguments.plan(document, console);
    if (!planned) return planned.diagnostics();
    plans.push_back(std::move(*planned));
  }
  return plans;
}

Result<Curve> sweep(const ReportCommand& command, const Document& document,
                    const Console& console) {
  const PlanningRequest plan = command.plan.request();
  CurveRequest request;
  request.points = command.points;
  request.effort = command.plan.effort;
  request.seed = command.plan.seed;
  request.device = plan.device;
  request.cost_model = plan.cost_model;
  request.overrides = plan.overrides;
  request.torch = plan.torch;
  console.say("planning the trade-off");
  auto curve = sweep_document(document, request);
  console.say("");
  return curve;
}

int report(const ReportCommand& command, const Console& console) {
  auto document = command.graph.open(console);
  if (!document) return console.report_error(document.diagnostics());
  gui::HtmlReport html;
  html.digest = graph_digest(document->passes.input);
  html.command = console.command;
  if (auto done = add_library_workspaces(*document, command.plan.device); !done)
    return console.report_error(done.diagnostics());
  auto plans = plan_all(command, *document, console);
  if (!plans) return console.report_error(plans.diagnostics());
  for (const Planned& planned : *plans) {
    if (!planned.report.holds()) return refuse(planned.report, false, console);
    html.plans.push_back(&planned.report);
  }
  // Arena figures are reported for the first plan alone.
  if (auto done = measure_arena(document->graph(), plans->front()); !done)
    return console.report_error(done.diagnostics());
  const auto curve = sweep(command, *document, console);
  if (!curve) return console.report_error(curve.diagnostics());
  html.file = std::filesystem::path(command.graph.path).filename().string();
  html.passes = &document->passes;
  html.curve = &curve->report;
  const auto written = write_file(command.out, gui::html_report(html));
  if (!written) return console.report_error(written.diagnostics());
  console.out << fmt::format("{}\n", command.out);
  return kDone;
}

}  // namespace

void add_report(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<ReportCommand>();
  CLI::App& command = *app.add_subcommand(
      "report", "Write one HTML file with a plan's pictures, tables and trade-off");
  arguments->graph.add_to(command);
  arguments->graph.add_mesh_to(command);
  arguments->graph.add_freeze_to(command);
  arguments->plan.add_to(command);
  command
      .add_option("--compare", arguments->compare,
                  "Another budget to compare the plan with. May be given again")
      ->allow_extra_args(false)
      ->type_name("BUDGET");
  command
      .add_option("--points", arguments->points, "Number of budgets in the trade-off (default: 50)")
      ->check(CLI::Range(std::size_t{2}, kMaxCurvePoints))
      ->type_name("N");
  command.add_option("--out", arguments->out, "HTML file to write (default: report.html)")
      ->type_name("FILE");
  command.footer(footer_with_examples(
      "The file needs no other: attach it to an issue, or keep it from a run of CI.",
      {"report samples/joint/gpt2.json.gz --budget 50% --compare 80% --points 10 --out "
       "build/gpt2.html",
       "report samples/joint/tiny_conv.json.gz --budget 80% --out build/report.html"}));
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return report(*arguments, console); };
  });
}

}  // namespace recut::native
