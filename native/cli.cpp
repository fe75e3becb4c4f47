#include "native/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "engine/support/shell_word.h"
#include "engine/support/version.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"
#include "native/commands/settings.h"

namespace recut::native {
namespace {

constexpr const char* kCliAbout =
    "A graph is fx-joint-graph JSON as exported from PyTorch, a graph printed by PyTorch, a "
    "TORCH_LOGS or TORCH_TRACE file, each gzipped or not, a program of torch.export (.pt2), "
    "Recut's text form, or an ONNX model (.onnx).\n"
    "Exit codes: 0 done; 1 a check failed or the budget can't be held; 2 bad arguments or input.";

std::string cli_footer() {
  return footer_with_examples(
      kCliAbout,
      {"plan samples/joint/gpt2.json.gz --strategy torch --budget 0.4 --svg build/memory.svg",
       "sweep samples/joint/gpt2.json.gz --points 10 --svg build/curve.svg",
       "show samples/joint/tiny_mlp.json.gz",
       "eval samples/joint/tiny_mlp.json.gz --tensors samples/joint/tiny_mlp.safetensors --check"});
}

std::string typed_line(const std::vector<std::string>& arguments) {
  std::string line = "recut";
  for (const std::string& argument : arguments) line += " " + shell_word(argument);
  return line;
}

// Commands that read no graph have few options; compile-op has a --set of its own.
bool has_settings(const CLI::App& command) {
  return command.get_option_no_throw("--graph") != nullptr;
}

Result<std::vector<std::string>> expanded(const CLI::App& app,
                                          const std::vector<std::string>& arguments) {
  for (const CLI::App* command : app.get_subcommands({})) {
    if (arguments.empty() || command->get_name() != arguments.front()) continue;
    auto line = with_settings(*command, {arguments.begin() + 1, arguments.end()});
    if (line) line->insert(line->begin(), arguments.front());
    return line;
  }
  return arguments;
}

}  // namespace

int run_command(const std::vector<std::string>& arguments, const Console& console) {
  CLI::App app("Recut: a compiler workbench for training graphs", "recut");
  app.set_version_flag("--version", std::string(version()));
  app.require_subcommand(1);
  app.footer(cli_footer());
  Action chosen;
  add_show(app, chosen);
  add_opt(app, chosen);
  add_plan(app, chosen);
  add_schedule(app, chosen);
  add_sweep(app, chosen);
  add_compare_memory(app, chosen);
  add_fit(app, chosen);
  add_shard(app, chosen);
  add_meshes(app, chosen);
  add_eval(app, chosen);
  add_run(app, chosen);
  add_train(app, chosen);
  add_calibrate(app, chosen);
  add_report(app, chosen);
  add_grad(app, chosen);
  add_test_rules(app, chosen);
  add_bisect(app, chosen);
  add_minimize(app, chosen);
  add_debug(app, chosen);
  add_import(app, chosen);
  add_emit(app, chosen);
  add_compile(app, chosen);
  add_compile_op(app, chosen);
  add_cache(app, chosen);
  for (CLI::App* command : app.get_subcommands({}))
    if (has_settings(*command)) add_settings(*command);
  const auto line = expanded(app, arguments);
  if (!line) return console.report_error(line.diagnostics());
  try {
    // CLI11 takes the arguments in reverse order.
    app.parse(std::vector<std::string>(line->rbegin(), line->rend()));
  } catch (const CLI::ParseError& failure) {
    const bool asked =
        failure.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);  // --help, --version
    app.exit(failure, asked ? console.out : console.err, console.err);
    return asked ? kDone : kBadInput;
  }
  Console told = console;
  told.command = typed_line(arguments);
  return chosen(told);
}

}  // namespace recut::native
