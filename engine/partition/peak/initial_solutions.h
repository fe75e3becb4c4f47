// Initial solutions of the searches: the program order, the saved set of a minimum cut at some
// price (min_cut_saved_set.h), or checkpoints of some number of segments (checkpoint_segments.h).
// They may peak above the budget; greedy rematerialisation reduces them.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/partition/peak/sequence.h"

namespace recut::peak {

// The parameters of an initial solution: cheap to list, more expensive to build.
struct InitialSolution {
  enum Kind : std::uint8_t { kOrder, kReordered, kPrice, kSegments } kind = kOrder;
  double price = 0;           // kPrice: duration per byte, in units of total duration / peak
  int exponent_quarters = 0;  // kPrice: 0 … 4: how a long life raises the price of keeping
  int segments = 0;           // kSegments
  double deferred_share = 0;  // the gradients' bytes that a second pass makes
};

// All initial solutions that suit the problem, the most useful first.
std::vector<InitialSolution> initial_solutions(const RematProblem& problem);

// The initial solutions that lead to the lowest peaks.
std::vector<InitialSolution> low_peak_initial_solutions(const RematProblem& problem);

// Builds the plan, without dead runs. kReordered stops reordering at `budget`.
void build_initial_solution(const InitialSolution& start, Sequence& sequence, std::int64_t budget);

}  // namespace recut::peak
