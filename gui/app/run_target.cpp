#include "gui/app/run_target.h"

#include <fmt/core.h>

#include "gui/app/app.h"

namespace recut::gui {
namespace {

constexpr std::string_view kSetting = "run.on";

}  // namespace

Executor* chosen_executor(const App& app) {
  const std::vector<Executor*> executors = app.backend.executors();
  const std::string requested = app.settings.text(kSetting);
  for (Executor* executor : executors)
    if (executor->id() == requested) return executor;
  return executors.empty() ? nullptr : executors.front();
}

KernelLibrary chosen_library(const App& app) {
  const Executor* executor = chosen_executor(app);
  return executor != nullptr ? executor->library() : KernelLibrary();
}

Result<Done> choose_runner(App& app, std::string_view id) {
  std::string known;
  for (const Executor* executor : app.backend.executors()) {
    if (executor->id() == id) {
      app.settings.set(kSetting, executor->id());
      return Done{};
    }
    known += (known.empty() ? "" : ", ") + executor->id();
  }
  return error(fmt::format("steps run on one of {}", known));
}

}  // namespace recut::gui
