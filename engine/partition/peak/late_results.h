// Plans with two backward passes: where the results (the gradients) take much of the memory, those
// that backward makes first wait for a second pass, after the steps that need the most beside them.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/partition/problem/problem.h"

namespace recut::peak {

// Whether only the end reads what a computation makes: it can be made at any time until then.
bool makes_results_alone(const Problem& problem, std::int32_t computation);

// The sequence that saves `saved` (expand_lazily) in either of two passes. The first leaves out the
// results that come first behind the border, `share` of all results' bytes; the second runs again
// what these need. Problems with a border and an end only.
std::vector<std::int32_t> expand_in_two_passes(const Problem& problem,
                                               const std::vector<bool>& saved, double share);

}  // namespace recut::peak
