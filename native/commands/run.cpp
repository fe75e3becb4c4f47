// recut run: a planned training step, compiled and measured beside its plan.
#include "native/commands/run_arguments.h"

#include <fmt/core.h>

#include <deque>
#include <memory>

#include "engine/eval/inputs.h"
#include "engine/input/safetensors.h"
#include "native/commands/card_options.h"
#include "native/commands/command.h"

namespace recut::native {

std::optional<cache::Store> usual_store(const RunCommand& command, const Console& console) {
  if (command.no_cache) return std::nullopt;
  auto options = cache::usual_options();
  if (options) return cache::Store(std::move(*options));
  console.err << "note: no cache is used: " << options.diagnostics().front().message << "\n";
  return std::nullopt;
}

Result<Done> write_outputs(const RunCommand& command, std::span<const Tensor> outputs) {
  if (command.out_tensors.empty()) return Done{};
  std::deque<std::string> bytes;
  std::vector<NamedTensor> tensors;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].exists())
      tensors.push_back({fmt::format("out.{}", i), outputs[i].dtype, outputs[i].shape,
                         bytes.emplace_back(bytes_of(outputs[i]))});
  return write_file(command.out_tensors, write_safetensors(tensors));
}

namespace {

constexpr const char* kRunFooter =
    "The peak is measured in memory that was painted before: up to where the step wrote.\n"
    "Rates stand beside the ceilings of --profile, or of what recut calibrate measured, by which "
    "the step is planned, too.\n"
    "--check takes the Euclidean norm of an output's error by that of the interpreter's value, "
    "and allows 1e-5, or what rounding in the inputs' last bits does; on a card 2e-3 with tf32 "
    "or where the graph has values of f16, and 2e-2 with bf16 or where it has some of bf16.\n"
    "On a card, the libraries are looked for where RECUT_CUDA_PATH says (folders, ':' between "
    "them), else in the usual places.\n"
    "Example: recut run samples/joint/tiny_mlp.json.gz --budget 60% --check";

void add_libraries_to(CLI::App& command, RunCommand& arguments) {
  command.add_flag(
      "--no-library", arguments.no_library,
      "Matrix products and convolutions by Recut's own loops, not by oneDNN, or cuBLASLt and "
      "cuDNN; on a card attention, too");
  command
      .add_option("--workspace", arguments.workspace,
                  "The most that a card's libraries may take beside the arena (default: 256MiB)")
      ->type_name("BYTES");
  command.add_flag(
      "--nondeterministic", arguments.nondeterministic,
      "Take ways of a card's libraries that give other bits each time where they are quicker");
}

void add_values(CLI::App& command, RunCommand& arguments) {
  command
      .add_option("--tensors", arguments.tensors,
                  "Values: in.<name> for inputs (safetensors); those that it lacks are made")
      ->type_name("FILE");
  command
      .add_option("--out-tensors", arguments.out_tensors,
                  "Writes the outputs: out.<position>, counted in results and then gradients "
                  "(safetensors)")
      ->type_name("FILE");
  command.add_option("--seed", arguments.seed, "What makes inputs and random numbers (default: 0)")
      ->type_name("N");
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<RunCommand>();
  CLI::App& command = *app.add_subcommand(
      "run", "Plan, schedule, compile and run a training step, and measure its time and peak");
  arguments->graph.add_to(command);
  arguments->plan.add_search_to(command);
  add_profile(command, "--profile", arguments->plan.device);
  add_card_options(command, arguments->target, arguments->precision);
  add_values(command, *arguments);
  command
      .add_option("--threads", arguments->threads, "Threads of a processor (default: one a core)")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  command.add_option("--steps", arguments->steps, "Steps that are timed (default: 10)")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  add_libraries_to(command, *arguments);
  command.add_flag("--check", arguments->check,
                   "Interpret the same graph on the same values and compare every output; exit "
                   "code 1 where one differs");
  command.add_flag("--no-cache", arguments->no_cache,
                   "Plan and compile anew, and keep nothing: recut cache says what is kept");
  command.add_flag("--json", arguments->json, "One JSON value instead of the tables");
  command.footer(kRunFooter);
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) {
      return arguments->target == "cuda" ? run_on_cuda(*arguments, console)
                                         : run_on_cpu(*arguments, console);
    };
  });
}

}  // namespace recut::native
