// Decides which loops are fully unrolled, so that their accesses are at constant offsets.
#pragma once

#include <cstdint>

#include "engine/codegen/loop/kernel.h"

namespace recut::wasm {

// True if a loop has few iterations, only loads, stores and arithmetic, and its variable occurs
// only as a term of their indices.
bool is_unrolled(const loop::Kernel& kernel, const loop::Loop& loop);

// True if a few copies of the body are within the limit of an unrolled loop, and it has no inner
// loop.
bool is_short(const loop::Loop& loop);

}  // namespace recut::wasm
