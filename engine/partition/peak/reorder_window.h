// Local reordering: beam search (beam_order.h) for the order of the lowest peak in a window of
// runs.
#pragma once

#include <cstdint>

#include "engine/partition/peak/sequence.h"

namespace recut::peak {

// Reorders `count` runs from `first` on so that the window's highest step has fewer bytes. The
// multiset of runs stays the same. No order below `target_peak` is searched for. True if a run
// moved.
bool reorder_window(Sequence& sequence, RunId first, int count, int width, std::int64_t target_peak,
                    std::uint64_t seed);

// Reorders windows over the whole sequence, each overlapping the next by half.
void reorder_all(Sequence& sequence, int count, int width, std::int64_t target_peak);

}  // namespace recut::peak
