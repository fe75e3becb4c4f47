// The application on the null backend, for tests: time passes by ticks, jobs run between them.
#pragma once

#include <string>
#include <string_view>

#include "engine/support/result.h"
#include "gui/app/app.h"
#include "gui/app/script.h"
#include "gui/backend/null_backend.h"

namespace recut::gui {

struct Window {
  explicit Window(AppOptions options = {}, NullBackend given = sample_backend());

  // One tick, a sixtieth of a second; whether it drew.
  bool tick();
  // Until nothing is at work and nothing moves.
  void settle();
  // Runs a command, and settles.
  Result<Done> run(std::string_view command, std::string_view argument = {});
  // Runs a script; what failed, one a line, "" where nothing did.
  std::string play(std::string_view script, const std::string& file_name = "script");
  std::string state(std::string_view name) const { return app.state(name).value_or("no such"); }

  // With a few of the samples as "sample:NAME", and files of samples/ by their path.
  static NullBackend sample_backend();

  NullBackend backend;
  App app;
};

// That opens nothing by itself and remembers nothing; searches are short.
AppOptions bare_options();

// Presses and releases a key.
inline void key(Window& window, ImGuiKey key) {
  window.backend.give(KeyChanged{key, true});
  window.backend.give(KeyChanged{key, false});
  window.tick();
}

}  // namespace recut::gui
