// The least peak that can be reached at all, whatever it takes in time.
#pragma once

#include "engine/partition/peak/solver.h"

namespace recut::peak {

// The plan of the lowest peak that is found: memories of shrinking size, run on demand; the recipes
// for first plans, each lowered as far as it goes; then the best of them, lowered in small steps.
// `holds` is false, and no bounds are proved.
Outcome lowest(const Problem& problem, const SolveOptions& options);

}  // namespace recut::peak
