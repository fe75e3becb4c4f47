// How far into its arena a step writes.
#pragma once

#include <cstdint>

#include "engine/support/result.h"
#include "native/cpu/step.h"

namespace recut::cpu {

// Runs the step twice in memory that was painted before, and looks up to where the paint is gone. A
// byte that happens to be the paint's is another one's in the second coat.
Result<std::int64_t> touched_bytes(Run& run, std::uint64_t seed);

}  // namespace recut::cpu
