// Simulates Dynamic Tensor Rematerialization (DTR: Kirisame et al., ICLR 2021): runs the step in a
// memory of fixed size, recomputes a missing input on access, and evicts the storage of the best
// heuristic value where the memory is full. DTR decides online; here the next use of every storage
// is known. The plans reach peaks that no local change of a plan finds, at the price of many runs.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/partition/problem/remat_problem.h"

namespace recut::peak {

// The eviction heuristic: bytes * (steps to the next use)^(exponent_quarters / 4) / (cost + 1).
// DTR's own has the time since the last access (staleness) in place of the steps to the next use.
struct DtrHeuristic {
  int exponent_quarters = 4;          // 0 … 4
  bool backward_inputs_first = true;  // of missing inputs, recompute backward's first
  // Gradients are never evicted: if memory doesn't suffice, they are computed later.
  bool defer_results = false;
  int rank_lifetime = 4;            // evictions for which a storage's rank stays valid
  std::int64_t max_runs = 1 << 20;  // in all, failed tries included
};

// The heuristics worth trying, the most useful first.
std::vector<DtrHeuristic> dtr_heuristics(const RematProblem& problem);

// The sequence of runs; empty if `budget` doesn't suffice or max_runs is reached. A computation
// that may run only once can live longer than the simulation assumes, so the sequence can peak
// above the budget. Adds the cost to `work`, in changes of a Sequence: O(alive storages) for an
// eviction.
std::vector<std::int32_t> simulate_dtr(const RematProblem& problem, std::int64_t budget,
                                       const DtrHeuristic& heuristic, std::int64_t* work = nullptr);

}  // namespace recut::peak
