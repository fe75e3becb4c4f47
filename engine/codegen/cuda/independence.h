// Whether the iterations of loops can be run by threads at once: whether none stores to a place
// that another one reads or stores to, as far as sums of loop variables tell.
#pragma once

#include "engine/codegen/cuda/nest.h"
#include "engine/codegen/loop/ranges.h"

namespace recut::cuda {

// What grows from iteration to iteration: `none` may, or accumulators whose lanes are those of the
// loop, of which each has its own partial.
enum class Growing : std::uint8_t { nothing, partials };

// Whether any two iterations of the nest's loops are independent. Loops that are parallel are, by
// their meaning; of the others it is proved. Atomic combinations in any order meet nobody.
bool is_independent(const loop::Kernel& kernel, const loop::Ranges& ranges, const Nest& nest,
                    Growing growing = Growing::nothing);

}  // namespace recut::cuda
