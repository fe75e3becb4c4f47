// The `recut` command line.
#pragma once

#include <string>
#include <vector>

#include "native/console.h"

namespace recut::native {

// Runs `recut` with these arguments (without the program's name) and returns its exit code.
int run_command(const std::vector<std::string>& arguments, const Console& console);

}  // namespace recut::native
