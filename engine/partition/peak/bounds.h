// Proved lower bounds on the peak and on the duration of every sequence. They turn a heuristic plan
// into one with a known distance from the optimum, and a search stops where the gap is small.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/partition/problem/remat_problem.h"

namespace recut::peak {

// Bounds the peak: by the largest step, and by a best-first search backwards from the end over sets
// of storages that must be alive together (pebbling_bound.cpp), which visits at most `states` sets.
std::int64_t peak_bound(const RematProblem& problem, std::size_t states);

// Bounds the overhead (duration beyond running everything once) of every sequence that peaks within
// `budget`. At the first run of a computation its ancestors have run and its descendants have not:
// each value that the descendants need is either alive then or recomputed. A minimum cut finds the
// cheapest mix at a price per byte. With the budget as a Lagrangian constraint, the best price
// gives a lower bound. `steps`: the computations at whose first run to evaluate it. The result is
// max() if a step proves that no sequence fits. Cost: at most 14 minimum cuts a step.
std::int64_t overhead_bound(const RematProblem& problem, std::int64_t budget,
                            std::span<const std::int32_t> steps);

// Computations at which the bound is likely high: they have the most bytes alive at their first run
// in `sequence`, spread out, and the boundary is one.
std::vector<std::int32_t> likely_bound_steps(const RematProblem& problem,
                                             std::span<const std::int32_t> sequence, int count);

}  // namespace recut::peak
