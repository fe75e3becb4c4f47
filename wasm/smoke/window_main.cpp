// The window as node runs it, on the null backend and without threads: plays a scenario. That it
// links and passes proves that the page can have the same window.
//
// usage: node recut_window_smoke.js SCENARIO.script [NAME=GRAPH.json …]
//        opened as sample:NAME; where NAME is a path, in place of the file there

#include <cstdio>
#include <string>

#include "engine/input/bytes.h"
#include "gui/app/app.h"
#include "gui/app/script.h"
#include "gui/backend/null_backend.h"

namespace {

using recut::Diagnostics;

// "NAME=FILE" as a file of the backend.
Diagnostics add_file(const std::string& argument, recut::gui::NullBackend& backend) {
  const std::size_t cut = argument.find('=');
  const auto bytes = recut::read_file(argument.substr(cut + 1));
  if (!bytes) return bytes.diagnostics();
  const std::string name = argument.substr(0, cut);
  backend.files[name.find('/') == std::string::npos ? "sample:" + name : name] = *bytes;
  return {};
}

Diagnostics play(const std::string& path, recut::gui::NullBackend& backend) {
  const auto text = recut::read_file(path);
  if (!text) return text.diagnostics();
  auto lines = recut::gui::parse_script(*text, path);
  if (!lines) return lines.diagnostics();
  recut::gui::AppOptions options;
  options.restore = options.remember = options.welcome = false;
  recut::gui::App app(backend, options);
  recut::gui::ScriptRunner runner(app, std::move(*lines), path);
  while (runner.advance()) {
    backend.pass(1.0 / 60);
    app.tick();
  }
  return runner.failures();
}

}  // namespace

int main(int argc, char** argv) {
  recut::gui::NullBackend backend;
  Diagnostics faults;
  for (int i = 2; i < argc && faults.empty(); ++i) faults = add_file(argv[i], backend);
  if (faults.empty() && argc > 1) faults = play(argv[1], backend);
  std::fputs(recut::format(faults).c_str(), stderr);
  if (faults.empty()) std::printf("passed, %d frames\n", backend.frames_drawn);
  return faults.empty() && argc > 1 ? 0 : 1;
}
