// recut plan: decides which values to keep and which to recompute.
#include <fmt/core.h>

#include <memory>

#include "engine/input/bytes.h"
#include "engine/ir/data_flow.h"
#include "engine/ir/printer.h"
#include "engine/partition/problem/moccasin.h"
#include "engine/passes/partitioned_graphs.h"
#include "engine/workspace/node_link.h"
#include "engine/workspace/plan_text.h"
#include "engine/workspace/reasons.h"
#include "gui/pictures/memory_timeline.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"
#include "native/commands/picture_options.h"
#include "native/commands/plan_arguments.h"

namespace recut::native {
namespace {

struct PlanCommand {
  GraphArguments graph;
  PlanArguments plan;
  std::vector<std::string> explain;
  std::string out;
  std::string svg;
  std::string halves;
  PictureArguments picture;
  bool json = false;
};

// Writes the forward and backward graphs, each after the passes of the stage post-grad.
Result<Done> write_partitions(const PlanCommand& command, const Document& document,
                              const Planned& planned) {
  const auto chosen = command.graph.post_grad_passes(document.file);
  if (!chosen) return chosen.diagnostics();
  const PartitionedGraphs halves = partition_graphs(document.graph(), planned.plan);
  for (const auto& [name, half] :
       {std::pair{"forward", &halves.forward}, {"backward", &halves.backward}}) {
    const auto report = run_passes(*half, chosen->names, chosen->options);
    if (!report) return report.diagnostics();
    if (report->failure)
      return error(fmt::format("internal error: pass '{}' {}", report->failure->pass,
                               report->failure->message));
    auto written =
        write_file(fmt::format("{}/{}.recut", command.halves, name), print(report->graph()));
    if (!written) return written;
  }
  return Done{};
}

Result<Done> write_outputs(const PlanCommand& command, const Document& document,
                           const Planned& planned) {
  if (!command.out.empty()) {
    auto written = write_file(command.out, plan_file_json(document.graph(), planned));
    if (!written) return written;
  }
  if (!command.halves.empty()) {
    auto written = write_partitions(command, document, planned);
    if (!written) return written;
  }
  if (command.svg.empty()) return Done{};
  return write_file(command.svg, gui::memory_timeline_svg(planned.report, command.picture.look()));
}

int plan_node_link(const PlanCommand& command, std::string_view bytes, const Console& console) {
  if (!command.svg.empty())
    return console.report_error({{"--svg draws joint graphs; this one has nodes and links alone",
                                  command.graph.path, 0, 0}});
  if (const std::string& strategy = command.plan.strategy; !strategy.empty() && strategy != "peak")
    return console.report_error(
        {{"a node-link graph is planned by strategy peak alone: it says "
          "nothing of forward and backward",
          command.graph.path, 0, 0}});
  console.say("planning");
  const auto planned = recut::plan_node_link(bytes, command.graph.path,
                                             command.plan.request().budget, command.plan.limits());
  console.say("");
  if (!planned) return console.report_error(planned.diagnostics());
  const NodeLinkReport& report = planned->report;
  if (report.holds && !command.out.empty()) {
    const auto written = write_file(command.out, node_link_plan_json(*planned));
    if (!written) return console.report_error(written.diagnostics());
  }
  if (command.json)
    console.out << node_link_report_json(report);
  else if (report.holds)
    console.out << highlighted(console, node_link_text(report));
  if (report.holds) return kDone;
  console.err << "error: " << node_link_infeasible_text(report) << "\n";
  return kCheckFailed;
}

int plan(const PlanCommand& command, const Console& console) {
  // The graph reader reports unreadable files.
  if (const auto bytes = read_file(command.graph.path); bytes && is_node_link(*bytes))
    return plan_node_link(command, *bytes, console);
  auto document = command.graph.open(console);
  if (!document) return console.report_error(document.diagnostics());
  if (!command.halves.empty() && !is_joint(document->graph()))
    return console.report_error(
        {{"--emit-graphs writes forward and backward, and a forward graph has no "
          "backward: `recut opt --out` writes it",
          command.graph.path, 0, 0}});
  if (auto done = add_library_workspaces(*document, command.plan.device); !done)
    return console.report_error(done.diagnostics());
  const auto planned = command.plan.plan(*document, console);
  if (!planned) return console.report_error(planned.diagnostics());
  // No file is written for a plan that breaks the budget.
  if (!planned->report.holds()) return refuse(planned->report, command.json, console);
  const auto written = write_outputs(command, *document, *planned);
  if (!written) return console.report_error(written.diagnostics());
  console.say("explaining");
  const auto explanations = explain(*document, command.plan.request(), *planned, command.explain);
  console.say("");
  if (!explanations) return console.report_error(explanations.diagnostics());
  if (command.json) {
    console.out << plan_report_json(planned->report, *explanations);
    return kDone;
  }
  console.out << highlighted(console, plan_text(planned->report));
  for (const Explanation& explanation : *explanations)
    console.out << "\n" << explanation_text(explanation, planned->report);
  return kDone;
}

}  // namespace

void add_plan(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<PlanCommand>();
  CLI::App& command =
      *app.add_subcommand("plan", "Plan saved values and recomputation within a memory budget");
  arguments->graph.post_grad_later = true;
  arguments->graph.add_to(command);
  arguments->graph.add_mesh_to(command);
  arguments->graph.add_freeze_to(command);
  arguments->plan.add_to(command);
  command
      .add_option("--explain", arguments->explain,
                  "Explain the choice for a value: the costs of saving and of recomputing it, and "
                  "the effect of the other choice. May be given again")
      ->allow_extra_args(false)
      ->type_name("NAME");
  command
      .add_option("--out", arguments->out,
                  "Write the plan: the orders of forward and backward, and the saved values, by "
                  "the file's node names")
      ->type_name("FILE");
  command
      .add_option("--svg", arguments->svg,
                  "Draw the step's memory in program order, with its peak (SVG)")
      ->type_name("FILE");
  command
      .add_option("--emit-graphs,--halves", arguments->halves,
                  "Write the partitioned graphs, forward.recut and backward.recut, into this "
                  "folder, after the passes of stage post-grad")
      ->type_name("FOLDER");
  arguments->picture.add_to(command);
  command.add_flag("--json", arguments->json, "Print one JSON value instead of the tables");
  std::string footer = "Strategies:\n";
  for (const Strategy& s : all_strategies()) footer += fmt::format("  {:<10}{}\n", s.name, s.prose);
  footer += "Options of strategy torch (--torch NAME=VALUE):\n";
  for (const TorchOptionRow& row : torch_option_rows())
    footer += fmt::format("  {:<37}{}: {}{}\n", row.name, row.values, row.prose,
                          row.usual.empty() ? "" : fmt::format(" (default: {})", row.usual));
  command.footer(footer_with_examples(
      footer, {"plan samples/joint/gpt2.json.gz --budget 4GiB --svg build/memory.svg",
               "plan samples/recompute.recut --budget 75% --explain h2"}));
  command.callback([arguments, &chosen] {
    arguments->graph.device = arguments->plan.device;
    chosen = [arguments](const Console& console) { return plan(*arguments, console); };
  });
}

}  // namespace recut::native
