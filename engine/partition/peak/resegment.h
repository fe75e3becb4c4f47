// Replaces the checkpoints of one part of forward, all at once. From one spacing of checkpoints to
// another no sequence of single recomputations leads without a detour through longer plans.
#pragma once

#include <cstdint>

#include "engine/partition/peak/sequence.h"

namespace recut::peak {

// Of the storages that computations `begin` … `end` - 1 of forward make, keeps exactly the ones
// that cross the boundary in a plan of about `segments` segments (see checkpoints()), whatever the
// peak. The others are recomputed before their first use in backward. For problems with a boundary.
// False if that takes more than `allowance` work; the caller then rolls the changes back.
bool resegment(Sequence& sequence, int segments, std::int32_t begin, std::int32_t end,
               std::int64_t allowance);

}  // namespace recut::peak
