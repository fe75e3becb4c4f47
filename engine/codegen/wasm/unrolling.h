// Which loops are written iteration by iteration: what they read and write then stands at constant
// distances.
#pragma once

#include <cstdint>

#include "engine/codegen/loop/kernel.h"

namespace recut::wasm {

// Whether a loop has so few iterations, and loads, stores and arithmetic alone, with its variable
// in sums of their indices only.
bool is_unrolled(const loop::Kernel& kernel, const loop::Loop& loop);

// Whether some copies of a body are no more than an unrolled loop has: it is short, and has no
// loop.
bool is_short(const loop::Loop& loop);

}  // namespace recut::wasm
