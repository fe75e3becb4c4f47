// Loop-invariant code motion.
//
//   for %i { for %j { %a = load %x[%i]; %b = load %y[%j]; ... } }
//   for %i { %a = load %x[%i]; for %j { %b = load %y[%j]; ... } }
#pragma once

#include "engine/codegen/loop/kernel.h"

namespace recut::loop {

// Moves definitions out of all loops that they don't depend on: constants, indices, operators,
// checks, and loads from read-only buffers. A definition doesn't leave a branch, nor a loop that
// never runs. Bit-exact. Returns the new kernel; linear in its text, times the depth of loops.
Kernel licm(const Kernel& kernel);

}  // namespace recut::loop
