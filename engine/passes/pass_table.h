// The table of passes, engine/passes/passes.def: a new pass is one row there, one word in the table
// of stages (stages.cpp) and one file here.
#pragma once

#include <span>
#include <string_view>

#include "engine/passes/pass.h"

namespace recut {

// In the order in which they run by default; those that don't stand where they would.
std::span<const Pass> all_passes();

// By name, here or among the freezing passes (freezing.h); null where there is none. all_passes()
// are those of the other stages.
const Pass* find_pass(std::string_view name);

}  // namespace recut
