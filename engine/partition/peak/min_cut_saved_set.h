// The storages to keep across the boundary, by minimum cut, as PyTorch's min-cut partitioner does:
// for a price per byte, the set with the least sum of kept bytes and recomputed durations. It is
// exact for the boundary alone, where each computation is recomputed at most once; it ignores the
// peak inside backward. Cost: one maximum flow.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/partition/problem/remat_problem.h"

namespace recut::peak {

struct SavedSet {
  std::vector<bool> saved;       // by storage
  std::vector<bool> recomputed;  // by computation: runs again in backward
  std::int64_t bytes = 0;        // of the saved storages
  std::int64_t duration = 0;     // of the recomputed computations
};

// `price` is duration per byte, for each storage times its `weight` (empty: 1).
SavedSet min_cut_saved_set(const RematProblem& problem, double price,
                           const std::vector<double>& weight = {});

// The sequence that saves exactly `saved` and the storages of computations that run only once:
// forward and backward in the problem's order, each recomputation right before its first use.
std::vector<std::int32_t> expand_lazily(const RematProblem& problem,
                                        const std::vector<bool>& saved);

}  // namespace recut::peak
