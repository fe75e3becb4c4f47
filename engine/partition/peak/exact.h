// Exact answers for small problems: shortest paths over what has run and what is alive. The judge
// of the bounds and of the search in tests; the solver proves its plans of tiny problems with it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/partition/problem/problem.h"

namespace recut::peak {

// Problems may have up to 31 computations and 31 storages; the work grows exponentially with both.
bool fits_exact(const Problem& problem);

struct Exact {
  std::int64_t value = 0;              // the least duration, or the least peak
  std::vector<std::int32_t> sequence;  // one that has it
};

// The least duration of any sequence with a peak within `budget`; nothing where there is none, or
// where more than `max_states` states would have to be looked at (then *exhausted is false).
std::optional<Exact> exact_duration(const Problem& problem, std::int64_t budget,
                                    std::size_t max_states, bool* exhausted = nullptr);

// The least peak of any sequence.
std::optional<Exact> exact_peak(const Problem& problem, std::size_t max_states,
                                bool* exhausted = nullptr);

}  // namespace recut::peak
