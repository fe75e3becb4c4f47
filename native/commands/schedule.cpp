// recut schedule: a plan's kernels, and a location in one arena for each of their buffers.
#include <memory>

#include "engine/schedule/make_schedule.h"
#include "engine/workspace/plan_text.h"
#include "engine/workspace/scheduling.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"
#include "native/commands/plan_arguments.h"

namespace recut::native {
namespace {

struct ScheduleCommand {
  GraphArguments graph;
  PlanArguments plan;
  ScheduleOptions options;
  std::string out;
  bool json = false;
};

int schedule(const ScheduleCommand& command, const Console& console) {
  auto document = command.graph.open(console);
  if (!document) return console.report_error(document.diagnostics());
  if (auto done = add_library_workspaces(*document, command.plan.device); !done)
    return console.report_error(done.diagnostics());
  console.say("planning and scheduling");
  const auto scheduled = schedule_document(*document, {command.plan.request(), command.options});
  console.say("");
  if (!scheduled) return console.report_error(scheduled.diagnostics());
  const bool holds = scheduled->holds();
  if (holds && !command.out.empty()) {  // no file is written for a broken budget
    const auto written = write_file(command.out, schedule_json(*document, *scheduled, true));
    if (!written) return console.report_error(written.diagnostics());
  }
  if (!holds) return refuse_arena(*document, *scheduled, command.json, console);
  console.out << (command.json ? schedule_json(*document, *scheduled, false)
                               : highlighted(console, scheduling_text(*document, *scheduled)));
  return kDone;
}

}  // namespace

void add_schedule(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<ScheduleCommand>();
  CLI::App& command = *app.add_subcommand(
      "schedule", "Plan, fuse into kernels, and place every buffer in one arena");
  arguments->graph.add_to(command);
  arguments->graph.add_mesh_to(command);
  arguments->graph.add_freeze_to(command);
  arguments->plan.add_to(command);
  command
      .add_option("--align", arguments->options.alignment,
                  "Alignment of every buffer in bytes, a power of two (default: 64)")
      ->type_name("BYTES");
  command
      .add_option("--packing-effort", arguments->options.effort,
                  "Search effort for a smaller arena, as a multiple of the usual one (default: 1)")
      ->type_name("FACTOR")
      ->check(CLI::NonNegativeNumber);
  command.add_flag("--in-place", arguments->options.in_place,
                   "Let element-wise kernels overwrite operands without later readers. The arena "
                   "may then be smaller than the planned peak");
  command
      .add_option("--out", arguments->out,
                  "Write the schedule as JSON: kernels in order with their calls, and buffers with "
                  "size, offset and lifetime")
      ->type_name("FILE");
  command.add_flag("--json", arguments->json, "Print one JSON value instead of the tables");
  command.footer(footer_with_examples(
      "The budget bounds the arena. If alignment or gaps between buffers exceed it, Recut plans "
      "again for a lower peak. A verifier proves every schedule before it is shown.",
      {"schedule samples/joint/gpt2.json.gz --budget 4GiB --model fused --out build/schedule.json",
       "schedule samples/recompute.recut --budget 75% --in-place"}));
  command.callback([arguments, &chosen] {
    arguments->graph.device = arguments->plan.device;
    chosen = [arguments](const Console& console) { return schedule(*arguments, console); };
  });
}

}  // namespace recut::native
