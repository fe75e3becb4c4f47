// Checks of a kernel's memory accesses: bounds and races, by intervals of indices.
#pragma once

#include "engine/codegen/loop/kernel.h"
#include "engine/support/result.h"

namespace recut::loop {

// Diagnostics for the loads and stores of a kernel whose names and types are sound (verifier.h:
// bounds and races).
Diagnostics access_faults(const Kernel& kernel);

}  // namespace recut::loop
