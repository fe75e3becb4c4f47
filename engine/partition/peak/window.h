// Local reordering: the runs of a window of the sequence, put in the order with the lowest peak.
#pragma once

#include <cstdint>

#include "engine/partition/peak/sequence.h"

namespace recut::peak {

// Reorders `count` runs from `first` on so that fewer bytes are alive at the window's highest
// place; what runs how often stays. `enough`: lower isn't worth anything. True where something
// moved.
bool reorder_window(Sequence& sequence, RunId first, int count, int width, std::int64_t enough,
                    std::uint64_t seed);

// Windows over the whole sequence, each overlapping the next by half.
void reorder_all(Sequence& sequence, int count, int width, std::int64_t enough);

}  // namespace recut::peak
