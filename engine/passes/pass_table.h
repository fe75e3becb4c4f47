// The table of passes, engine/passes/passes.def: a new pass is one row there, one word in the table
// of stages (stages.cpp) and one file here.
#pragma once

#include <span>
#include <string_view>

#include "engine/passes/pass.h"

namespace recut {

// In the default order; opt-in passes stand at their position in it.
std::span<const Pass> all_passes();

// A pass by name, also among the freezing passes (freezing.h), which all_passes() lacks. Null if
// there is none.
const Pass* find_pass(std::string_view name);

// The name that a pass has now: of a name that it had before (former_names.def), else the same.
std::string_view current_pass_name(std::string_view name);

}  // namespace recut
