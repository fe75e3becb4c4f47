// recut schedule: a plan's kernels, and a place in one arena for each of their buffers.
#include <memory>

#include "engine/schedule/make_schedule.h"
#include "engine/workspace/plan_text.h"
#include "engine/workspace/scheduling.h"
#include "native/commands/command.h"
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
  auto document = command.graph.open_joint(console);
  if (!document) return console.complain(document.diagnostics());
  if (auto done = add_workspaces(*document, command.plan.device); !done)
    return console.complain(done.diagnostics());
  console.say("planning and scheduling");
  const auto scheduled = schedule_document(*document, {command.plan.request(), command.options});
  console.say("");
  if (!scheduled) return console.complain(scheduled.diagnostics());
  const bool holds = scheduled->holds();
  if (holds && !command.out.empty()) {  // no file is written for what isn't asked for
    const auto written = write_file(command.out, schedule_json(*document, *scheduled, true));
    if (!written) return console.complain(written.diagnostics());
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
      "schedule", "Plan, fuse into kernels, and give every buffer its place in one arena");
  arguments->graph.add_to(command);
  arguments->plan.add_to(command);
  command
      .add_option(
          "--align", arguments->options.alignment,
          "Every buffer starts at a multiple of so many bytes: a power of two (default: 64)")
      ->type_name("BYTES");
  command
      .add_option("--packing-effort", arguments->options.effort,
                  "How hard to search for a smaller arena: times more or less than usual")
      ->type_name("FACTOR")
      ->check(CLI::NonNegativeNumber);
  command.add_flag("--in-place", arguments->options.in_place,
                   "Element-wise kernels write over operands that nobody needs after them, so that "
                   "the arena may be smaller than the planned peak");
  command
      .add_option("--out", arguments->out,
                  "Write the schedule as JSON: the kernels with their calls, in order, and every "
                  "buffer with its size, its offset and the kernels that it lives through")
      ->type_name("FILE");
  command.add_flag("--json", arguments->json, "One JSON value instead of the tables");
  command.footer(
      "The budget bounds the arena: where alignment or gaps between buffers take it above the "
      "budget although the plan's peak is within, it is planned again for a lower peak. Every "
      "schedule is proved by a verifier before it is shown.\n"
      "Example: recut schedule samples/joint/gpt2.json.gz --budget 4GiB --model fused --out "
      "schedule.json");
  command.callback([arguments, &chosen] {
    arguments->graph.device = arguments->plan.device;
    chosen = [arguments](const Console& console) { return schedule(*arguments, console); };
  });
}

}  // namespace recut::native
