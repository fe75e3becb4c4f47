// Which places of its buffers a kernel reaches: bounds and races, by ranges of indices.
#pragma once

#include "engine/codegen/loop/kernel.h"
#include "engine/support/result.h"

namespace recut::loop {

// What is wrong with the loads and stores of a kernel whose names and types are sound (verifier.h,
// bounds and races).
Diagnostics access_faults(const Kernel& kernel);

}  // namespace recut::loop
