// recut run --mesh: the steps of all ranks as machine code, in this process.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>

#include "engine/support/units.h"
#include "engine/workspace/mesh_request.h"
#include "engine/workspace/rank_execution.h"
#include "engine/workspace/rank_steps.h"
#include "native/commands/gpu_options.h"
#include "native/commands/rank_report.h"
#include "native/commands/run_arguments.h"
#include "native/cpu/onednn.h"
#include "native/cpu/rank_code.h"

namespace recut::native {
namespace {

Result<Done> refuse_options(const RunCommand& command) {
  if (command.target == "cuda")
    return error(
        "--mesh: ranks run on the processor alone (--ranks local), and not on GPUs yet; leave out "
        "--device cuda");
  if (command.nondeterministic) return error("--nondeterministic: for --device cuda alone");
  if (!command.debug.folder.empty() || command.debug.with_data)
    return error("--debug-dir and --debug-data: for a run without --mesh alone");
  return refuse_gpu_options(command.precision, command.workspace);
}

// The ranks of one document, with the decisions by which a whole graph was sharded.
struct Ranks {
  mesh::DeviceMesh mesh;
  RankDocuments documents;
  std::optional<mesh::DistributedModule> module;  // none: the graph is a rank's part already
  mesh::ShardedGraph sharded;
};

Result<Ranks> ranks_of(const std::shared_ptr<const Document>& document, const RunCommand& command) {
  const auto request = command.mesh.request();
  if (!request) return request.diagnostics();
  const Graph& graph = document->graph();
  if (has_collectives(graph) && request->preset.empty() && request->placements.empty()) {
    const auto mesh = mesh::DeviceMesh::parse(request->mesh);
    if (!mesh) return error("mesh: " + mesh.diagnostics().front().message);
    auto given = given_ranks(document, *mesh);
    if (!given) return given.diagnostics();
    return Ranks{*mesh, std::move(*given), std::nullopt, {}};
  }
  auto module = place_on_mesh(graph, *request);
  if (!module) return module.diagnostics();
  auto sharded = mesh::shard(*module);
  if (!sharded) return sharded.diagnostics();
  auto documents = shard_ranks(*document, *module, *sharded, command.graph.path);
  if (!documents) return documents.diagnostics();
  const mesh::DeviceMesh mesh = module->mesh();
  return Ranks{mesh, std::move(*documents), std::move(*module), std::move(*sharded)};
}

int refuse_steps(const RankDocuments& documents, const RankSteps& steps, bool json,
                 const Console& console) {
  if (!steps.scheduled.holds())
    return refuse_arena(documents.planned(), steps.scheduled, json, console);
  console.err << fmt::format(
      "error: the arena of rank {} needs {}, more than the budget of {} a "
      "device, which the first rank holds\n",
      steps.worst(), format_bytes(steps.ranks[steps.worst()]->schedule.arena_bytes),
      format_bytes(steps.scheduled.planned.report.budget_bytes));
  return kCheckFailed;
}

int execute_ranks(const RunCommand& command, const Document& document, const Ranks& ranks,
                  const RankSteps& steps, const Console& console) {
  const auto tensors = read_tensors(command.tensors, document.file);
  if (!tensors) return console.report_error(tensors.diagnostics());
  cpu::RankCode code(command.threads);
  RankExecutionRequest request;
  request.prepare = [&](const Program& program, std::vector<Tensor> inputs) {
    return code.prepare(program, std::move(inputs));
  };
  request.tensors = (*tensors)->tensors;
  request.seed = command.seed;
  request.steps = command.steps;
  request.check = command.check;
  request.keep_outputs = !command.out_tensors.empty();
  request.progress = [&](std::string_view what) { console.say(what); };
  const auto execution =
      ranks.module ? run_sharded(*ranks.module, ranks.sharded, ranks.documents, steps, request)
                   : run_given(ranks.mesh, ranks.documents, steps, request);
  console.say("");
  if (!execution) return console.report_error(execution.diagnostics());
  if (const auto written = write_outputs(command, document.graph(), execution->values); !written)
    return console.report_error(written.diagnostics());
  console.out << (command.json ? ranks_as_json(*execution, command.check)
                               : ranks_as_text(*execution, command.steps, command.check));
  return execution->holds() && (!command.check || execution->agrees()) ? kDone : kCheckFailed;
}

}  // namespace

int run_on_ranks(RunCommand command, const Console& console) {
  if (const auto taken = refuse_options(command); !taken)
    return console.report_error(taken.diagnostics());
  if (command.threads == 0)
    command.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  auto opened = command.graph.open(console);
  if (!opened) return console.report_error(opened.diagnostics());
  const auto document = std::make_shared<const Document>(std::move(*opened));
  const auto ranks = ranks_of(document, command);
  if (!ranks) return console.report_error(ranks.diagnostics());
  if (!ranks->module && !command.out_tensors.empty())
    return console.report_error({error(
        "--out-tensors: the graph is a rank's part already, expected one of the whole model")});
  console.say("planning");
  ProgramOptions options;
  options.library = !command.no_library;
  options.library_takes = cpu::onednn_takes;
  const auto steps = compile_ranks(ranks->documents, scheduling_on_cpu(command), options);
  console.say("");
  if (!steps) return console.report_error(steps.diagnostics());
  if (!steps->holds()) return refuse_steps(ranks->documents, *steps, command.json, console);
  return execute_ranks(command, *document, *ranks, *steps, console);
}

}  // namespace recut::native
