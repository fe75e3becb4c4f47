// Dual numbers of an opened file (engine/autodiff/dual_numbers.h).
#pragma once

#include <string_view>

#include "engine/input/graph_file.h"
#include "engine/support/result.h"

namespace recut {

// Expands the calls of dual numbers in a file's graphs, so that only plain calls remain for all
// later work. Loops and branches of such a graph are inlined first, as for `jvp`. A nested graph
// with a call of its own is a diagnostic: a dual number may not leave the trip that makes it.
Result<Done> expand_dual_numbers(GraphFile& file, std::string_view file_name);

}  // namespace recut
