// The least peak that can be reached at all, whatever it takes in time.
#pragma once

#include "engine/partition/peak/solver.h"

namespace recut::peak {

// The plan of the lowest peak that is found: the step run on demand in the smallest memories that
// let it, and the recipes for first plans, each lowered as far as it goes. The search ends when the
// effort was spent without finding a lower one. `holds` is false, and no bounds are proved.
Outcome lowest(const Problem& problem, const SolveOptions& options);

}  // namespace recut::peak
