#include "gui/app/run_place.h"

#include <fmt/core.h>

#include "gui/app/app.h"

namespace recut::gui {
namespace {

constexpr std::string_view kSetting = "run.on";

}  // namespace

Runner* chosen_runner(const App& app) {
  const std::vector<Runner*> runners = app.backend.runners();
  const std::string wanted = app.settings.text(kSetting);
  for (Runner* runner : runners)
    if (runner->id() == wanted) return runner;
  return runners.empty() ? nullptr : runners.front();
}

KernelLibrary chosen_library(const App& app) {
  const Runner* runner = chosen_runner(app);
  return runner != nullptr ? runner->library() : KernelLibrary();
}

Result<Done> choose_runner(App& app, std::string_view id) {
  std::string known;
  for (const Runner* runner : app.backend.runners()) {
    if (runner->id() == id) {
      app.settings.set(kSetting, runner->id());
      return Done{};
    }
    known += (known.empty() ? "" : ", ") + runner->id();
  }
  return error(fmt::format("steps run on one of {}", known));
}

}  // namespace recut::gui
