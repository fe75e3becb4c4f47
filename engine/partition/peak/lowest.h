// The least peak that can be reached at all, whatever it takes in time.
#pragma once

#include "engine/partition/peak/outcome.h"
#include "engine/partition/problem/problem.h"

namespace recut::peak {

// The plan of the lowest peak that is found: the recipes for low plans, and the step run on demand
// in the smallest memories that let it, each lowered as far as it goes. The search ends when the
// effort was spent without finding a lower one. `holds` is false, and no bounds are proved.
// `in_hurry`: ends when twice the effort is spent; else it goes on as long as it wins something.
// What is found in a hurry is never lower.
Outcome lowest(const Problem& problem, const SolveOptions& options, bool in_hurry);

}  // namespace recut::peak
