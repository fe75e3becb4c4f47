// recut plan: what to keep and what to compute again.
#include <fmt/format.h>

#include <memory>

#include "engine/workspace/plan_text.h"
#include "gui/pictures/memory_timeline.h"
#include "native/commands/command.h"
#include "native/commands/plan_arguments.h"

namespace recut::native {
namespace {

struct PlanCommand {
  GraphArguments graph;
  PlanArguments plan;
  std::string out;
  std::string svg;
  bool light = false;
  bool json = false;
};

Result<Done> write_outputs(const PlanCommand& command, const Document& document,
                           const Planned& planned) {
  if (!command.out.empty()) {
    auto written = write_file(command.out, plan_file_json(document.graph(), planned));
    if (!written) return written;
  }
  if (command.svg.empty()) return Done{};
  return write_file(command.svg, gui::memory_timeline_svg(
                                     planned.report, command.light ? gui::kLight : gui::kDark));
}

int plan(const PlanCommand& command, const Console& console) {
  const auto document = command.graph.open(console);
  if (!document) return console.complain(document.diagnostics());
  console.say("planning");
  const auto planned = command.plan.plan(*document);
  console.say("");
  if (!planned) return console.complain(planned.diagnostics());
  if (!planned->report.holds()) {  // no file is written for what isn't asked for
    if (command.json) console.out << plan_report_json(planned->report);
    return refuse(planned->report, console);
  }
  const auto written = write_outputs(command, *document, *planned);
  if (!written) return console.complain(written.diagnostics());
  console.out << (command.json ? plan_report_json(planned->report)
                               : highlighted(console, plan_text(planned->report)));
  return kDone;
}

}  // namespace

void add_plan(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<PlanCommand>();
  CLI::App& command =
      *app.add_subcommand("plan", "Decide what to keep for backward and what to compute again");
  arguments->graph.add_to(command);
  arguments->plan.add_to(command);
  command
      .add_option("--out", arguments->out,
                  "Write the plan: the two orders and what is saved, in the file's node names")
      ->type_name("FILE");
  command
      .add_option("--svg", arguments->svg,
                  "Draw the memory of the step in program order, the peak marked")
      ->type_name("FILE");
  command.add_flag("--light", arguments->light, "The picture on a light ground");
  command.add_flag("--json", arguments->json, "One JSON value instead of the tables");
  std::string footer = "Strategies:\n";
  for (const Strategy& s : all_strategies()) footer += fmt::format("  {:<10}{}\n", s.name, s.prose);
  command.footer(footer +
                 "Example: recut plan samples/joint/gpt2.json.gz --budget 4GiB "
                 "--svg memory.svg");
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return plan(*arguments, console); };
  });
}

}  // namespace recut::native
