// Plans made by running with a memory of fixed size: whatever is missing is made again when it is
// asked for, and where the memory is full, what is cheapest to do without goes first (dynamic
// tensor rematerialization: Kirisame et al., ICLR 2021; here the future is known). Reaches peaks
// that no local change of a plan finds, at the price of many runs.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/partition/problem/problem.h"

namespace recut::peak {

// How what goes is chosen: by bytes * (steps to the next use)^(stretch / 4) / (cost + 1).
struct Eviction {
  int stretch = 4;             // 0 … 4
  bool tangents_first = true;  // of a call's missing inputs those from backward are made first
  // What only the end reads is never made twice: it is made later where memory doesn't suffice.
  bool results_wait = false;
  int patience = 4;                 // evictions for which what was found of others is believed
  std::int64_t max_runs = 1 << 20;  // in all, those of failed tries included
};

// The ways that proved worth trying, the most useful first.
std::vector<Eviction> evictions(const Problem& problem);

// The runs, or nothing where `budget` doesn't suffice or they get too many. What runs only once may
// be needed longer than this supposes: the peak of the sequence can be above the budget. Adds to
// `work` what that took, in changes of a Sequence.
std::vector<std::int32_t> run_on_demand(const Problem& problem, std::int64_t budget,
                                        const Eviction& eviction, std::int64_t* work = nullptr);

}  // namespace recut::peak
