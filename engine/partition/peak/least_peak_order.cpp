#include "engine/partition/peak/least_peak_order.h"

#include <utility>

#include "engine/partition/peak/bounds.h"
#include "engine/partition/peak/peak_of.h"
#include "engine/partition/peak/solver.h"

// The search for the minimum peak, of a copy of the problem in which no computation may run again:
// all that is left to it is the order. A chain, as most networks are, has one order alone; the
// bound shows that it is the least before any search.

namespace recut::peak {

std::vector<std::int32_t> least_peak_order(const RematProblem& problem,
                                           const SolveOptions& options) {
  const std::int64_t in_program_order = peak_of(problem, problem.order);
  if (in_program_order <= peak_bound(problem, options.bound_states)) return problem.order;
  RematProblem once = problem;
  for (std::int32_t c = 0; c < once.size(); ++c)
    once.set_flags(c, once.flags(c) | RematProblem::kOnce);
  Outcome found = solve_min_peak(once, options);
  if (found.peak >= in_program_order) return problem.order;
  return std::move(found.sequence);
}

}  // namespace recut::peak
