// Moves what doesn't depend on a loop out of it.
//
//   for %i { for %j { %a = load %x[%i]; %b = load %y[%j]; ... } }
//   for %i { %a = load %x[%i]; for %j { %b = load %y[%j]; ... } }
#pragma once

#include "engine/codegen/loop/kernel.h"

namespace recut::loop {

// Definitions go out of all loops that they don't depend on: constants, indices, operators and
// checks, and loads from buffers that are only read; none leaves a branch, nor a loop that never
// runs. Values stay the same bits.
Kernel hoist(const Kernel& kernel);

}  // namespace recut::loop
