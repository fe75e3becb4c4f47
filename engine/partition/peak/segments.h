// Checkpoints at the narrow places of forward: split its order into segments where few bytes cross,
// keep what crosses, and run each segment again when backward comes to it (Chen et al. 2016).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/partition/problem/problem.h"

namespace recut::peak {

// Storages to save for about `segments` segments of equal bytes.
std::vector<bool> checkpoints(const Problem& problem, int segments);

}  // namespace recut::peak
