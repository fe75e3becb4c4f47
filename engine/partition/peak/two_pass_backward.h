// Plans with two backward passes. Where the gradients take much of the memory, a second pass, after
// the steps of the highest pressure, computes the gradients that backward would compute first. It
// recomputes their inputs; in return they aren't alive at the peak. Cost: O(computations + reads) a
// plan.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/partition/problem/remat_problem.h"

namespace recut::peak {

// Only the end reads the computation's storages: it can run at any time before the end.
bool makes_only_results(const RematProblem& problem, std::int32_t computation);

// The sequence that saves `saved` (expand_lazily) in two passes. The first leaves out the gradients
// that come first after the boundary, `share` of all gradients' bytes; the second recomputes their
// inputs. For problems with a boundary and an end.
std::vector<std::int32_t> expand_in_two_passes(const RematProblem& problem,
                                               const std::vector<bool>& saved, double share);

}  // namespace recut::peak
