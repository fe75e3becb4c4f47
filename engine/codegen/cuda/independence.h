// A dependence test: proves that no iteration stores to an element that another one reads or stores
// to, so that threads can run the iterations concurrently.
#pragma once

#include "engine/codegen/cuda/nest.h"
#include "engine/codegen/loop/ranges.h"

namespace recut::cuda {

// Permitted loop-carried state: none, or accumulators with the loop's lanes, where each thread has
// its own partials.
enum class LoopCarried : std::uint8_t { nothing, partials };

// True if any two iterations of the nest's loops are independent. Parallel loops are so by
// definition; for the others it is proved. Atomic combinations don't conflict with each other.
bool is_independent(const loop::Kernel& kernel, const loop::Ranges& ranges, const Nest& nest,
                    LoopCarried carried = LoopCarried::nothing);

}  // namespace recut::cuda
