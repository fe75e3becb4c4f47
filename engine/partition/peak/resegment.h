// One stretch of forward is given other checkpoints, all at once: from one spacing of checkpoints
// to another no single repetition leads without a detour through dearer plans.
#pragma once

#include <cstdint>

#include "engine/partition/peak/sequence.h"

namespace recut::peak {

// Keeps, of what computations `begin` … `end` - 1 of forward make, exactly what crosses the border
// in a plan of about `segments` segments (see checkpoints()), whatever the peak; the rest runs
// again before its first use in backward. For problems with a border. False, with changes left for
// the caller to roll back, where that takes more than `allowance` work.
bool resegment(Sequence& sequence, int segments, std::int32_t begin, std::int32_t end,
               std::int64_t allowance);

}  // namespace recut::peak
