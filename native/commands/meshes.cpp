// recut meshes: the meshes that spread a training step over a number of devices.
#include <fmt/format.h>

#include <memory>

#include "engine/support/units.h"
#include "engine/workspace/mesh_comparison.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"
#include "native/commands/plan_arguments.h"

namespace recut::native {
namespace {

struct MeshesCommand {
  GraphArguments graph;
  PlanArguments plan;
  std::int64_t devices = 8;
  bool json = false;
};

int meshes(const MeshesCommand& command, const Console& console) {
  MeshComparisonRequest request;
  request.devices = command.devices;
  request.planning = command.plan.request();
  if (command.plan.budget) {
    const auto bytes = parse_bytes(*command.plan.budget);
    if (!bytes)
      return console.report_error(
          Diagnostics{error("--budget takes the bytes of a device here, such as 24GiB")});
    request.memory_bytes = *bytes;
  }
  const auto document = command.graph.open(console);
  if (!document) return console.report_error(document.diagnostics());
  request.progress = [&](std::size_t planned, std::size_t all) {
    console.say(fmt::format("planning mesh {} of {}", planned + 1, all));
  };
  const auto comparison = compare_meshes(*document, request, command.graph.path);
  console.say("");
  if (!comparison) return console.report_error(comparison.diagnostics());
  console.out << (command.json ? mesh_comparison_json(*comparison)
                               : mesh_comparison_text(*comparison));
  if (comparison->rows.front().holds) return kDone;
  console.err << fmt::format("error: no mesh of {} devices holds {} a device; the least is {}\n",
                             command.devices, format_bytes(*request.memory_bytes),
                             format_bytes(comparison->rows.front().bytes()));
  return kCheckFailed;
}

}  // namespace

void add_meshes(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<MeshesCommand>();
  CLI::App& command = *app.add_subcommand(
      "meshes", "Plan every mesh of a number of devices: memory, time and traffic of each");
  arguments->graph.add_to(command);
  command.add_option("--devices", arguments->devices, "Number of devices (default: 8)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20))
      ->type_name("N");
  arguments->plan.add_to(command);
  command.add_flag("--json", arguments->json, "Print one JSON value instead of the table");
  command.footer(footer_with_examples(
      "Axes are data parallel (ddp, fsdp), then tensor, sequence or context parallel (tp, sp, cp). "
      "The budget is the memory of a device in bytes, for inputs and the step's peak together. "
      "Meshes that hold it come first, the quickest on top.\nExit code 1 where none holds it.",
      {"meshes samples/recompute.recut --devices 4 --budget 64KiB",
       "meshes samples/joint/gpt2.json.gz --devices 8 --budget 1GiB"}));
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return meshes(*arguments, console); };
  });
}

}  // namespace recut::native
