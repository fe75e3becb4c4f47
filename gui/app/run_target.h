// The executor that steps run on: one of the platform's, kept as the setting "run.on".
#pragma once

#include <string_view>

#include "engine/workspace/executor.h"

namespace recut::gui {

class App;

// The one that was chosen, else the first; null where there is none.
Executor* chosen_executor(const App& app);
// Of no name where there is none.
KernelLibrary chosen_library(const App& app);

// From the next run on, and the next steps of a training. Fails where there is no such executor. It
// is only noted: what an executor needs is opened when it is to run something.
Result<Done> choose_runner(App& app, std::string_view id);

}  // namespace recut::gui
