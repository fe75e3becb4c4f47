// recut shard: placements of a graph's values over a device mesh, and the traffic that they cost.
#include <cstdlib>
#include <memory>
#include <optional>

#include "engine/input/bytes.h"
#include "engine/workspace/sharded_check.h"
#include "engine/workspace/sharding_report.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"

namespace recut::native {
namespace {

struct ShardCommand {
  GraphArguments graph;
  std::string mesh, placements;
  bool json = false, checks = false;
  std::vector<std::string> tensors;
  std::string seed;
};

int check(const ShardCommand& command, const Document& document, const mesh::DeviceMesh& mesh,
          const std::string& placements, const Console& console) {
  const auto tensors = read_tensors(command.tensors, document.file);
  if (!tensors) return console.report_error(tensors.diagnostics());
  std::optional<std::uint64_t> seed;
  if (!command.seed.empty()) seed = std::strtoull(command.seed.c_str(), nullptr, 10);
  console.say("evaluating all ranks");
  const auto checked = check_sharded(document.graph(), mesh, placements, command.placements,
                                     (*tensors)->tensors, seed);
  console.say("");
  if (!checked) return console.report_error(checked.diagnostics());
  console.out << (command.json ? sharded_check_json(*checked) : sharded_check_text(*checked));
  return checked->ok() ? kDone : kCheckFailed;
}

int shard(const ShardCommand& command, const Console& console) {
  const auto mesh = mesh::DeviceMesh::parse(command.mesh);
  if (!mesh)
    return console.report_error(
        Diagnostics{error("--mesh: " + mesh.diagnostics().front().message)});
  std::string placements;
  if (!command.placements.empty()) {
    auto text = read_file(command.placements);
    if (!text) return console.report_error(text.diagnostics());
    placements = std::move(*text);
  }
  const auto document = command.graph.open(console);
  if (!document) return console.report_error(document.diagnostics());
  if (command.checks) return check(command, *document, *mesh, placements, console);
  const auto report = shard_graph(document->graph(), *mesh, placements, command.placements);
  if (!report) return console.report_error(report.diagnostics());
  console.out << (command.json ? sharding_json(*report) : sharding_text(*report));
  return kDone;
}

}  // namespace

void add_shard(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<ShardCommand>();
  CLI::App& command = *app.add_subcommand(
      "shard", "Place a graph's values over a device mesh, and list the collectives that it needs");
  arguments->graph.add_to(command);
  command
      .add_option("--mesh", arguments->mesh,
                  "Device mesh: a name and a size for each axis, such as dp=2,tp=4")
      ->required()
      ->type_name("AXES");
  command
      .add_option("--placements", arguments->placements,
                  "Placement file: sections parameters, inputs and outputs, with a name or pattern "
                  "and a placement for each axis a line (default: everything replicated)")
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
       "shard samples/recompute.recut --mesh dp=2,tp=4 --json",
       "shard samples/recompute.recut --mesh dp=2,tp=4 --placements "
       "samples/mesh/megatron.placements --check --seed 1"}));
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return shard(*arguments, console); };
  });
}

}  // namespace recut::native
