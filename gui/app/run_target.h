// The executor that steps run on: one of the platform's, kept as the setting "run.on".
#pragma once

#include <string_view>

#include "engine/workspace/executor.h"

namespace recut::gui {

class App;

// The chosen executor, else the first; null if there is none.
Executor* chosen_executor(const App& app);
// The library of the chosen executor; its name is "" if there is none.
KernelLibrary chosen_library(const App& app);

// Chooses the executor from the next run on, and for the next steps of a training. Fails where
// there is no such executor. It is only noted: an executor opens its device at its first run.
Result<Done> choose_runner(App& app, std::string_view id);

}  // namespace recut::gui
