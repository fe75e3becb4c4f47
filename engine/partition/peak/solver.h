// The solver of strategy `peak`: a sequence of minimum duration whose peak is within a budget, with
// proved bounds. Tiny problems are solved exactly; all others by heuristic search, since the
// problem is NP-hard. Checkmate and Moccasin solve it with integer and constraint programming;
// local search reaches such plans on graphs of thousands of nodes in seconds.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/partition/peak/solve_outcome.h"
#include "engine/partition/problem/remat_problem.h"

namespace recut::peak {

// The default effort, by the number of computations, times `factor`.
std::int64_t default_effort(const RematProblem& problem, double factor = 1);

// SolveOptions::relative_gap for that factor: more effort aims at a smaller gap.
double default_relative_gap(double factor = 1);

// The search alone, without bounds.
Outcome search(const RematProblem& problem, std::int64_t budget, const SolveOptions& options = {});

// The search with bounds. If the budget can't be held, the outcome is the plan of the lowest peak.
Outcome solve(const RematProblem& problem, std::int64_t budget, const SolveOptions& options = {});

// The plan of the lowest peak that the search reaches (min_peak.h), with a bound.
Outcome solve_min_peak(const RematProblem& problem, const SolveOptions& options = {});

struct SweepOptions : SolveOptions {
  std::vector<std::vector<std::int32_t>> warm_starts;  // plans to improve, of any peak
  // Called on every improvement, with all points; without bounds, largest budget first.
  std::function<void(const std::vector<Outcome>&)> on_curve;
};

// One plan for each budget, in the given order. First one search each; then every plan is a warm
// start for its neighbours, down and up again. A larger budget never has a longer plan: it would
// take the smaller one's. Effort and seconds are for the whole curve.
std::vector<Outcome> sweep(const RematProblem& problem, std::span<const std::int64_t> budgets,
                           const SweepOptions& options = {});

}  // namespace recut::peak
