// recut-gui: the window.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "engine/input/bytes.h"
#include "gui/app/app.h"
#include "gui/app/script.h"
#include "native/window/glfw_backend.h"

namespace {

using recut::gui::App;
using recut::native::GlfwBackend;

struct Arguments {
  std::vector<std::string> files;
  std::string rules;
  double effort = 1;
  std::string script;
  std::string size = "1680x1050";
  float scale = 0;
  bool fresh = false;
};

int report_error(const recut::Diagnostics& diagnostics, int code) {
  std::fputs(recut::format(diagnostics).c_str(), stderr);
  return code;
}

// Sleeps where there is nothing to do; input and messages of jobs wake it.
void run(App& app, GlfwBackend& backend) {
  while (!app.closing() && !backend.closing()) {
    app.tick();
    backend.wait(app.rest());
  }
}

int run_script(App& app, GlfwBackend& backend, const std::string& path) {
  const auto text = recut::read_file(path);
  if (!text) return report_error(text.diagnostics(), 2);
  auto lines = recut::gui::parse_script(*text, path);
  if (!lines) return report_error(lines.diagnostics(), 2);
  recut::gui::ScriptRunner runner(app, std::move(*lines), path);
  constexpr double kBeat = 0.004;
  while (runner.advance()) {
    app.tick();
    const auto rest = app.rest();
    backend.wait(rest && *rest <= 0 ? 0 : kBeat);
  }
  return runner.failures().empty() ? 0 : report_error(runner.failures(), 1);
}

int open_window(const Arguments& arguments) {
  recut::native::WindowOptions window;
  window.scale = arguments.scale;
  window.real_input = arguments.script.empty();
  if (std::sscanf(arguments.size.c_str(), "%dx%d", &window.extent.width, &window.extent.height) !=
      2)
    return report_error({recut::error("--size: expected WIDTHxHEIGHT")}, 2);
  auto backend = GlfwBackend::open(window);
  if (!backend) return report_error(backend.diagnostics(), 2);

  recut::gui::AppOptions options;
  options.restore = options.remember = window.real_input && !arguments.fresh;
  options.welcome = window.real_input;
  options.files = arguments.files;
  options.rules = arguments.rules;
  options.effort = arguments.effort;
  App app(**backend, options);
  if (!arguments.script.empty()) return run_script(app, **backend, arguments.script);
  run(app, **backend);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App command("Recut's window: a compiler workbench for training graphs", "recut-gui");
  Arguments arguments;
  command.add_option("FILE", arguments.files, "Graphs to open")->type_name("");
  command
      .add_option("--rules", arguments.rules,
                  "File of rules for the opened graphs, as pass 'rules' of the transforms "
                  "(engine/rewrite/README.md)")
      ->type_name("FILE");
  command
      .add_option("--effort", arguments.effort,
                  "Search effort, as a multiple of the usual one (default: 1). The same effort "
                  "gives the same plans on every machine")
      ->type_name("FACTOR")
      ->check(CLI::Range(recut::gui::kMinEffort, recut::gui::kMaxEffort));
  command
      .add_option("--script", arguments.script,
                  "Run a scenario without user input. Exit code 1 if an expectation fails")
      ->type_name("FILE");
  command.add_option("--size", arguments.size, "Size of the window in the screen's units")
      ->type_name("WxH")
      ->capture_default_str();
  command
      .add_option("--scale", arguments.scale, "Pixels per unit of length (default: the screen's)")
      ->type_name("FACTOR")
      ->check(CLI::Range(0.5, 6.0));
  command.add_flag("--fresh", arguments.fresh, "Neither restore nor save the workspace");
  CLI11_PARSE(command, argc, argv);
  return open_window(arguments);
}
