#include "tests/gui/window.h"

#include <catch2/catch_test_macros.hpp>
#include <chrono>

#include "engine/input/bytes.h"
#include "tests/paths.h"

namespace recut::gui {
namespace {

// Few tests of the window ask how near a plan is to the best.
constexpr double kTestsEffort = 0.3;

}  // namespace

Window::Window(AppOptions options, NullBackend given)
    : backend(std::move(given)), app(backend, std::move(options)) {}

bool Window::tick() {
  backend.pass(1.0 / 60);
  return app.tick();
}

void Window::settle() {
  constexpr std::chrono::minutes kLongest(3);
  const auto began = std::chrono::steady_clock::now();
  do {
    tick();
    if (app.idle()) return;
  } while (std::chrono::steady_clock::now() - began < kLongest);
  FAIL("the window didn't come to rest");
}

Result<Done> Window::run(std::string_view command, std::string_view argument) {
  auto done = app.run(command, argument);
  settle();
  return done;
}

std::string Window::play(std::string_view script, const std::string& file_name) {
  auto lines = parse_script(script, file_name);
  if (!lines) return format(lines.diagnostics());
  ScriptRunner runner(app, std::move(*lines), file_name);
  while (runner.advance()) tick();
  return format(runner.failures());
}

NullBackend Window::sample_backend() {
  NullBackend backend;
  for (const char* name : {"tiny_conv", "tiny_ops", "mlp"}) {
    const std::string file = std::string(RECUT_SOURCE_DIR "/samples/joint/") + name + ".json.gz";
    const auto bytes = read_file(file);
    REQUIRE(bytes.ok());
    backend.files["sample:" + std::string(name)] = *bytes;
  }
  for (const char* name : {"joint/tiny_mlp.json.gz", "joint/tiny_mlp.safetensors", "mlp.recut",
                           "recompute.recut", "blocks/residual_block.recut", "blocks/softmax.recut",
                           "rules/transposes.rules", "snapshots/mlp.pickle"}) {
    const std::string path = "samples/" + std::string(name);
    const auto bytes = read_file(std::string(RECUT_SOURCE_DIR "/") + path);
    REQUIRE(bytes.ok());
    backend.files[path] = *bytes;
  }
  return backend;
}

AppOptions bare_options() {
  AppOptions options;
  options.restore = options.remember = options.welcome = false;
  options.effort = kTestsEffort;
  return options;
}

}  // namespace recut::gui
