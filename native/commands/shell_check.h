// A user's command as a check of graphs.
#pragma once

#include <string>

#include "engine/passes/bisect.h"

namespace recut::native {

// Writes the graph into a file, in text form, and runs `command` by the shell with every {}
// replaced by the file's name in quotes. The graph is good where the command exits with 0. Fails
// where the command has no {}, the shell can't find or start it (exit 126, 127), or a signal ended
// it.
Result<GraphCheck> shell_check(const std::string& command);

}  // namespace recut::native
