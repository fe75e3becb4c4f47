// The window on the null backend and without threads: plays a scenario. Linking and passing proves
// that the page can have the same window. A graph is opened as sample:NAME; where NAME is a path,
// in place of the file there.

#include <cstdio>
#include <string>

#include "engine/input/bytes.h"
#include "gui/app/app.h"
#include "gui/app/script.h"
#include "gui/backend/null_backend.h"
#include "wasm/smoke/commands.h"

namespace recut::smoke {
namespace {

// Adds "NAME=FILE" as a file of the backend.
Diagnostics add_file(const std::string& argument, gui::NullBackend& backend) {
  const std::size_t cut = argument.find('=');
  const auto bytes = read_file(argument.substr(cut + 1));
  if (!bytes) return bytes.diagnostics();
  const std::string name = argument.substr(0, cut);
  backend.files[name.find('/') == std::string::npos ? "sample:" + name : name] = *bytes;
  return {};
}

Diagnostics play(const std::string& path, gui::NullBackend& backend) {
  const auto text = read_file(path);
  if (!text) return text.diagnostics();
  auto lines = gui::parse_script(*text, path);
  if (!lines) return lines.diagnostics();
  gui::AppOptions options;
  options.restore = options.remember = options.welcome = false;
  gui::App app(backend, options);
  gui::ScriptRunner runner(app, std::move(*lines), path);
  while (runner.advance()) {
    backend.pass(1.0 / 60);
    app.tick();
  }
  return runner.failures();
}

}  // namespace

int window_command(CommandArguments given) {
  gui::NullBackend backend;
  Diagnostics faults;
  for (std::size_t i = 1; i < given.size() && faults.empty(); ++i)
    faults = add_file(given[i], backend);
  if (faults.empty()) faults = play(given[0], backend);
  std::fputs(format(faults).c_str(), stderr);
  if (faults.empty()) std::printf("passed, %d frames\n", backend.frames_drawn);
  return faults.empty() ? 0 : 1;
}

}  // namespace recut::smoke
