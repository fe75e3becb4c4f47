// Checkpointing by segments (Chen et al. 2016): cut forward's order where few bytes cross, save the
// storages that cross, and recompute each segment when backward reaches it. O(√n) segments take
// O(√n) memory on a chain of n layers. Cost: O(computations + reads).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/partition/problem/remat_problem.h"

namespace recut::peak {

// Storages to save for about `segments` segments of equal bytes.
std::vector<bool> checkpoints(const RematProblem& problem, int segments);

}  // namespace recut::peak
