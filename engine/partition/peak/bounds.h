// Proved lower bounds: no sequence whatever goes below them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/partition/problem/problem.h"

namespace recut::peak {

// On the peak: what one step needs; and a best-first search backwards from the end over sets of
// storages that must be alive together (pebbling in reverse), which looks at `states` sets at most.
std::int64_t peak_bound(const Problem& problem, std::size_t states);

// On the time beyond running everything once, of any sequence that peaks within `budget`. At the
// first run of a computation its ancestors have run and its descendants have not: what the
// descendants need is alive then, or runs again. A minimum cut prices that for a price per byte;
// with the budget as a Lagrangian constraint its optimum bounds from below whatever fits.
// `moments`: the computations to ask at. max() where a moment proves that nothing fits.
std::int64_t extra_bound(const Problem& problem, std::int64_t budget,
                         std::span<const std::int32_t> moments);

// Computations at which a bound is worth asking for: spread over `sequence`, where much is alive.
std::vector<std::int32_t> likely_moments(const Problem& problem,
                                         std::span<const std::int32_t> sequence, int count);

}  // namespace recut::peak
