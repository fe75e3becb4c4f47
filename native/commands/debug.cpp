// recut debug: a folder that reproduces a run on another machine.
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "engine/workspace/rerun.h"
#include "native/calibrated_profile.h"
#include "native/commands/command.h"
#include "native/commands/debug_output.h"
#include "native/commands/examples.h"
#include "native/commands/plan_arguments.h"
#include "native/written_files.h"

namespace recut::native {
namespace {

struct DebugCommand {
  GraphArguments graph;
  PlanArguments plan = PlanArguments::of_step();
  std::vector<std::string> tensors;
  std::string out;
  std::uint64_t seed = 0;
  bool with_data = false;
  bool json = false;
};

Result<DebugRequest> request_of(const DebugCommand& command) {
  DebugRequest request;
  request.seed = command.seed;
  request.with_data = command.with_data;
  request.scheduling.planning = command.plan.request();
  const std::string device =
      command.plan.device.empty() ? std::string(kDefaultProcessor) : command.plan.device;
  request.scheduling.planning.device = device;
  if (const auto done = rerun_by_run(request, device); !done) return done.diagnostics();
  return request;
}

std::string as_json(const DebugBundle& bundle, const std::string& folder) {
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const BundleFile& file : bundle.files)
    files.push_back({{"path", file.path}, {"bytes", file.bytes.size()}});
  return nlohmann::ordered_json{{"folder", folder}, {"files", files}, {"notes", bundle.notes}}.dump(
             2) +
         "\n";
}

int debug(const DebugCommand& command, const Console& console) {
  const auto document = command.graph.open(console);
  if (!document) return console.report_error(document.diagnostics());
  const auto tensors = read_tensors(command.tensors, document->file);
  if (!tensors) return console.report_error(tensors.diagnostics());
  auto request = request_of(command);
  if (!request) return console.report_error(request.diagnostics());
  request->given = (*tensors)->tensors;
  console.say("planning and writing code");
  const auto bundle = debug_bundle(*document, *request);
  console.say("");
  if (!bundle) return console.report_error(bundle.diagnostics());
  if (const auto written = write_folder(command.out, bundle->files); !written)
    return console.report_error(written.diagnostics());
  console.out << (command.json ? as_json(*bundle, command.out) : bundle_text(*bundle, command.out));
  return kDone;
}

}  // namespace

void add_debug(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<DebugCommand>();
  CLI::App& command = *app.add_subcommand(
      "debug", "Write a folder that reproduces a run: graphs, plan, code, and programs to run it");
  arguments->graph.add_to(command);
  arguments->graph.add_freeze_to(command);
  arguments->plan.add_search_to(command);
  add_model(command, arguments->plan.model);
  add_profile(command, "--profile", arguments->plan.device, kDefaultProcessor);
  command
      .add_option("--tensors", arguments->tensors,
                  "Values of inputs (safetensors, in.<name>). Missing ones are drawn")
      ->type_name("FILE");
  command
      .add_option("--seed", arguments->seed,
                  "Seed of drawn inputs and of random numbers (default: 0)")
      ->type_name("N");
  command.add_flag("--with-data", arguments->with_data,
                   "Put the inputs' values into the folder (default: the seed alone)");
  command.add_option("-o,--out", arguments->out, "Folder to write")
      ->required()
      ->type_name("FOLDER");
  command.add_flag("--json", arguments->json, "Print one JSON value instead of the text");
  command.footer(footer_with_examples(
      "The folder has the graph as read and after each pass, the plan, the schedule, the code of "
      "each target, and instructions in README.md. run.sh runs it by recut, driver.sh by a C "
      "program, run.py in PyTorch. minimize.sh makes the graph small. It names no paths of this "
      "machine.\nrun, eval and bisect write such a folder of a failed check: --debug-dir FOLDER.",
      {"debug samples/mlp.recut -o build/debug",
       "debug samples/recompute.recut --budget 75% --seed 3 --with-data -o build/debug-data"}));
  command.callback([arguments, &chosen] {
    arguments->graph.weights = arguments->tensors;
    chosen = [arguments](const Console& console) { return debug(*arguments, console); };
  });
}

}  // namespace recut::native
