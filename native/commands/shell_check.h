// A user's shell command as a check of graphs.
#pragma once

#include <string>

#include "engine/passes/bisect.h"

namespace recut::native {

// Writes the graph into a file, in text form, and runs `command` by the shell with every {}
// replaced by the quoted file name. Exit code 0 means that the graph is good. Fails where the
// command has no {}, where the shell can't find or start it (exit 126, 127), and where a signal
// ended it.
Result<GraphCheck> shell_check(const std::string& command);

}  // namespace recut::native
