// recut shard: placements of a graph's values over a device mesh, and the traffic that they cost.
#include <cstdlib>
#include <memory>
#include <optional>

#include "engine/workspace/sharded_check.h"
#include "engine/workspace/sharding_report.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"

namespace recut::native {
namespace {

struct ShardCommand {
  GraphArguments graph;
  MeshArguments mesh;
  bool json = false, checks = false;
  std::vector<std::string> tensors;
  std::string seed, save;
};

int check(const ShardCommand& command, const Document& document, const MeshRequest& request,
          const Console& console) {
  const auto tensors = read_tensors(command.tensors, document.file);
  if (!tensors) return console.report_error(tensors.diagnostics());
  std::optional<std::uint64_t> seed;
  if (!command.seed.empty()) seed = std::strtoull(command.seed.c_str(), nullptr, 10);
  console.say("evaluating all ranks");
  const auto checked = check_sharded(document.graph(), request, (*tensors)->tensors, seed);
  console.say("");
  if (!checked) return console.report_error(checked.diagnostics());
  console.out << (command.json ? sharded_check_json(*checked) : sharded_check_text(*checked));
  return checked->ok() ? kDone : kCheckFailed;
}

int shard(const ShardCommand& command, const Console& console) {
  const auto request = command.mesh.request();
  if (!request) return console.report_error(request.diagnostics());
  const auto document = command.graph.open(console);
  if (!document) return console.report_error(document.diagnostics());
  if (command.checks) return check(command, *document, *request, console);
  const auto report = shard_graph(document->graph(), *request);
  if (!report) return console.report_error(report.diagnostics());
  if (!command.save.empty())
    if (const auto done = write_file(command.save, report->placement_file); !done)
      return console.report_error(done.diagnostics());
  console.out << (command.json ? sharding_json(*report) : sharding_text(*report));
  return kDone;
}

}  // namespace

void add_shard(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<ShardCommand>();
  CLI::App& command = *app.add_subcommand(
      "shard", "Place a graph's values over a device mesh, and list the collectives that it needs");
  arguments->graph.add_to(command);
  arguments->mesh.add_to(command, true);
  command
      .add_option("--save", arguments->save,
                  "Write the placements, such as those of a preset, as a placement file")
      ->type_name("FILE");
  command.add_flag("--check", arguments->checks,
                   "Evaluate all ranks in one process, in f64, and compare their outputs with the "
                   "whole graph's; exit with 1 where they differ");
  command
      .add_option("--tensors", arguments->tensors,
                  "Values of inputs for --check (in.<name>), as safetensors. May be given again")
      ->type_name("FILE");
  command
      .add_option("--seed", arguments->seed,
                  "Seed of missing inputs and of random numbers for --check (default: missing "
                  "inputs are an error)")
      ->check(CLI::Number)
      ->type_name("N");
  command.add_flag("--json", arguments->json, "Print one JSON value instead of the tables");
  command.footer(footer_with_examples(
      "A placement is R, S(dimension) or P(sum). Gradients end with their parameters' placements. "
      "Bytes are those of a ring, sent by the rank that sends most.",
      {"shard samples/recompute.recut --mesh dp=2,tp=4 --placements "
       "samples/mesh/megatron.placements",
       "shard samples/joint/gpt2.json.gz --mesh dp=2,tp=4 --preset dp=fsdp,tp=tp",
       "shard samples/recompute.recut --mesh dp=2,tp=4 --placements "
       "samples/mesh/megatron.placements --check --seed 1"}));
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return shard(*arguments, console); };
  });
}

}  // namespace recut::native
