// Exact solutions of small problems: Dijkstra's algorithm over the states (computations that have
// run, storages that are alive). Tests compare the bounds and the search with it; the solver uses
// it on tiny problems. Exponential: 2^(computations + storages) states at worst.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/partition/problem/remat_problem.h"

namespace recut::peak {

// At most 31 computations and 31 storages: a state is one 64-bit key.
bool fits_exact(const RematProblem& problem);

struct ExactSolution {
  std::int64_t value = 0;              // the minimum duration or peak
  std::vector<std::int32_t> sequence;  // a sequence that attains it
};

// The minimum duration of any sequence that peaks within `budget`. Nothing if none exists, or if
// the search visits more than `max_states` states (then *exhausted is false).
std::optional<ExactSolution> exact_duration(const RematProblem& problem, std::int64_t budget,
                                            std::size_t max_states, bool* exhausted = nullptr);

// The minimum peak of any sequence.
std::optional<ExactSolution> exact_peak(const RematProblem& problem, std::size_t max_states,
                                        bool* exhausted = nullptr);

}  // namespace recut::peak
