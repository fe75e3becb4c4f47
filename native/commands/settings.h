// Options of a command by key, from a JSON file or one by one, for scripts and experiments:
//   --set budget=40% passes.attention=off torch.solver=dp
//       ⇒  --budget=40% --skip=attention --torch=solver=dp
//   --settings FILE of {"budget": "40%", "passes": {"attention": false}, "torch": {"solver": "dp"}}
// A key is an option's name. With a point behind it stands the name that the option's NAME=VALUE
// has, or, behind `passes`, that of a pass. Lists are options that may be given again.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "engine/support/result.h"

namespace recut::native {

// Adds --set and --settings to a command that has no --set of its own.
void add_settings(CLI::App& command);

// The arguments of a command, with both replaced by the options that they stand for. An option of
// the line counts before --set, that before a file, and a later file before earlier ones. Fails on
// unknown keys and unfitting values; the options' own checks come later.
Result<std::vector<std::string>> with_settings(const CLI::App& command,
                                               const std::vector<std::string>& arguments);

}  // namespace recut::native
