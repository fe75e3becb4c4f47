// Which storages to keep across the border, by minimum cut: for a price per byte, the set that
// costs least in kept bytes and repeated work together. Exact for the border alone, where each
// computation is repeated at most once; what happens inside backward is for others to price.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/partition/problem/problem.h"

namespace recut::peak {

struct SavedSet {
  std::vector<bool> saved;    // by storage
  std::vector<bool> again;    // by computation: runs again in backward
  std::int64_t bytes = 0;     // of what is saved
  std::int64_t duration = 0;  // of what runs again
};

// `price` is duration per byte, for each storage times its `weight` (empty: 1).
SavedSet cheapest_saved_set(const Problem& problem, double price,
                            const std::vector<double>& weight = {});

// The sequence that saves exactly `saved` and what runs only once: forward in the problem's order,
// backward in its order, each repeated run right before its first use.
std::vector<std::int32_t> expand_lazily(const Problem& problem, const std::vector<bool>& saved);

}  // namespace recut::peak
