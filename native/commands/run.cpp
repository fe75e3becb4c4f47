// recut run: a planned step of training or inference, compiled and measured beside its plan.
#include "native/commands/run_arguments.h"

#include <fmt/core.h>

#include <deque>
#include <memory>

#include "engine/eval/inputs.h"
#include "engine/input/safetensors.h"
#include "engine/workspace/output_tensors.h"
#include "engine/workspace/rerun.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"
#include "native/commands/gpu_options.h"

namespace recut::native {

std::optional<cache::Store> default_store(const RunCommand& command, const Console& console) {
  if (command.no_cache) return std::nullopt;
  auto options = cache::default_store_options();
  if (options) return cache::Store(std::move(*options));
  console.err << "note: no cache is used: " << options.diagnostics().front().message << "\n";
  return std::nullopt;
}

Result<Done> write_outputs(const RunCommand& command, const Graph& graph,
                           std::span<const Tensor> outputs) {
  if (command.out_tensors.empty()) return Done{};
  std::deque<std::string> bytes;
  const std::vector<NamedTensor> tensors = output_tensors(graph, outputs, bytes);
  return write_file(command.out_tensors, write_safetensors(tensors));
}

void leave_debug(const RunCommand& command, const Document& document,
                 const PlanningRequest& planning, const std::string& device,
                 const std::vector<std::string>& more, std::span<const NamedTensor> given,
                 const std::string& finding, const Console& console) {
  DebugRequest request;
  request.scheduling.planning = planning;
  request.seed = command.seed;
  request.given = given;
  request.finding = finding;
  request.with_data = command.debug.with_data;
  std::vector<std::string> words = more;
  if (command.no_library) words.emplace_back("--no-library");
  if (const auto done = rerun_by_run(request, device, words); !done)
    request.notes.push_back(done.diagnostics().front().message);
  command.debug.leave(document, request, console);
}

namespace {

constexpr const char* kRunFooter =
    "The arena is filled with a pattern first: the measured peak ends with the last byte that the "
    "step writes.\nRates stand beside the ceilings of --profile, or of recut calibrate's profile. "
    "The same profile prices the plan.\n--check judges by the same graph in f64: by the Euclidean "
    "norm of an output's error, relative to that of its value, and by each element. It allows 1e-5 "
    "(f16: 1e-3, bf16: 8e-3); above that, 16 times the interpreter's own error in f32, or 4 times "
    "the change by random rounding. Outputs that rounding makes wrong by more than a thousandth "
    "are listed as ill-conditioned. On a GPU it allows 2e-3 with tf32 or with values of f16, and "
    "2e-2 with bf16 or with values of bf16.\n"
    "With --mesh all ranks run in this process, each in an arena of its own, by one plan: the "
    "budget is that of each device. --check compares the gathered outputs with those of the whole "
    "graph. A graph with collectives is a rank's part already: all ranks then run it, and are "
    "compared with the interpreter's.\nRECUT_CUDA_PATH lists the folders of NVIDIA's "
    "libraries, separated by "
    "':' (default: the usual places).";

void add_libraries_to(CLI::App& command, RunCommand& arguments) {
  command.add_flag("--no-library", arguments.no_library,
                   "Compute matrix products and convolutions by Recut's own loops instead of "
                   "oneDNN, cuBLASLt and cuDNN; on a GPU attention, too");
  command
      .add_option("--workspace", arguments.workspace,
                  "Largest workspace of a GPU library's call, beside the arena (default: 256MiB)")
      ->type_name("BYTES");
  command.add_flag("--nondeterministic", arguments.nondeterministic,
                   "Allow nondeterministic algorithms of the GPU's libraries, if they are faster");
}

void add_ranks_to(CLI::App& command, RunCommand& arguments) {
  arguments.mesh.add_to(command, false);
  command
      .add_option("--ranks", arguments.ranks,
                  "Executor of the mesh's ranks: local, all in this process on the processor, one "
                  "after another (default: local)")
      ->check(CLI::IsMember({"local"}))
      ->type_name("NAME");
  for (const char* option : {"--preset", "--placements", "--ranks"})
    command.get_option(option)->needs(command.get_option("--mesh"));
}

void add_values(CLI::App& command, RunCommand& arguments) {
  command
      .add_option("--tensors", arguments.tensors,
                  "Values of inputs (safetensors, in.<name>). Missing ones are generated")
      ->type_name("FILE");
  command
      .add_option("--out-tensors", arguments.out_tensors,
                  "Write the outputs, results before gradients, as out.<position> (safetensors), "
                  "and new values of inputs as in.<name>, too")
      ->type_name("FILE");
  command
      .add_option("--seed", arguments.seed,
                  "Seed of generated inputs and of random numbers (default: 0)")
      ->type_name("N");
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<RunCommand>();
  CLI::App& command = *app.add_subcommand(
      "run",
      "Plan, schedule, compile and run a step of training or inference; measure its time and peak");
  arguments->graph.add_to(command);
  arguments->graph.add_freeze_to(command);
  add_ranks_to(command, *arguments);
  arguments->plan.add_search_to(command);
  add_model(command, arguments->plan.model);
  add_profile(command, "--profile", arguments->plan.device, kProfileOfTheDevice);
  add_gpu_options(command, arguments->target, arguments->precision);
  add_values(command, *arguments);
  command
      .add_option("--threads", arguments->threads,
                  "Number of threads of the processor (default: one per core)")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  command.add_option("--steps", arguments->steps, "Number of timed steps (default: 10)")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  add_libraries_to(command, *arguments);
  command.add_flag("--check", arguments->check,
                   "Compare every output with the interpreter's for the same inputs. Exit code 1 "
                   "if one differs");
  arguments->debug.add_to(command);
  command.add_flag("--no-cache", arguments->no_cache,
                   "Plan and compile again, without reading or writing the cache (recut cache)");
  command.add_flag("--json", arguments->json, "Print one JSON value instead of the tables");
  command.footer(footer_with_examples(
      kRunFooter, {"run samples/joint/tiny_conv.json.gz --budget 90% --check",
                   "run samples/recompute.recut --budget 75% --threads 1 --steps 20",
                   "run tests/onnx/models/tiny_gpt.onnx --check",
                   "run samples/joint/tiny_lm.json.gz --mesh dp=2,tp=2 --preset dp=fsdp,tp=tp "
                   "--budget 70% --check"}));
  command.callback([arguments, &chosen] {
    arguments->graph.weights = arguments->tensors;
    chosen = [arguments](const Console& console) {
      if (!arguments->mesh.axes.empty()) return run_on_ranks(*arguments, console);
      return arguments->target == "cuda" ? run_on_cuda(*arguments, console)
                                         : run_on_cpu(*arguments, console);
    };
  });
}

}  // namespace recut::native
