// Drops what nothing uses and what is known already, and numbers what is left in the order of the
// text.
#pragma once

#include "engine/codegen/loop/kernel.h"

namespace recut::loop {

// Definitions without a use are dropped, but for checks, whose failing is seen; a definition that
// repeats one of its own or an outer block gives way to it (expression_key.h); values, loop
// variables and accumulators stand in their tables in the order of their statements, and buffers in
// theirs as before, scratch last.
Kernel tidy(const Kernel& kernel);

}  // namespace recut::loop
