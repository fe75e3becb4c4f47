// An order for the least peak without recomputation. A forward graph is free to take any; a joint
// graph's order of forward is PyTorch's.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/partition/peak/solve_outcome.h"
#include "engine/partition/problem/remat_problem.h"

namespace recut::peak {

// A topological order of all computations, each once, of the lowest peak that the search reaches:
// at most that of problem.order, and the least of all orders in tiny problems.
std::vector<std::int32_t> least_peak_order(const RematProblem& problem,
                                           const SolveOptions& options = {});

}  // namespace recut::peak
