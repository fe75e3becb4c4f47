// The door of strategy `peak`: the cheapest sequence whose peak holds a budget.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/partition/peak/outcome.h"
#include "engine/partition/problem/problem.h"

namespace recut::peak {

// The effort that is enough for most: a share for each computation. `factor`: times more or less.
std::int64_t default_effort(const Problem& problem, double factor = 1);

// SolveOptions::enough for such an effort: who searches harder wants to be nearer.
double default_enough(double factor = 1);

// The search alone, without proofs.
Outcome search(const Problem& problem, std::int64_t budget, const SolveOptions& options = {});

Outcome solve(const Problem& problem, std::int64_t budget, const SolveOptions& options = {});

// The lowest peak that the search reaches.
Outcome least_peak(const Problem& problem, const SolveOptions& options = {});

struct SweepOptions : SolveOptions {
  std::vector<std::vector<std::int32_t>> known;  // plans to start from, whatever they peak at
  // Called as the curve gets better, with all points so far; without bounds, largest budget first.
  std::function<void(const std::vector<Outcome>&)> on_curve;
};

// One plan for each budget, in the order given: first one search each, then every plan is the start
// for its neighbours, down and up again. A larger budget never costs more time: where it would, it
// takes the smaller one's plan. Effort and seconds are for the whole curve.
std::vector<Outcome> sweep(const Problem& problem, std::span<const std::int64_t> budgets,
                           const SweepOptions& options = {});

}  // namespace recut::peak
