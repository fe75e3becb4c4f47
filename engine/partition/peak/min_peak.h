// The minimum peak of any plan, whatever it costs in time. Reports name it as the least budget that
// can be held, so the search takes no budget.
#pragma once

#include "engine/partition/peak/solve_outcome.h"
#include "engine/partition/problem/remat_problem.h"

namespace recut::peak {

// Finds a plan of the lowest peak: it lowers initial solutions of low peak and plans of the DTR
// simulation in the smallest memories that work. The search ends when it spent the effort without a
// gain; `quick`: after twice the effort in all. A quick search never finds a lower peak than a full
// one. `holds` is false, and no bounds are proved. The result is heuristic: the problem is NP-hard.
Outcome min_peak(const RematProblem& problem, const SolveOptions& options, bool quick);

}  // namespace recut::peak
