// The peak of a finished sequence, in O(runs + reads). sequence.h maintains it under changes.
#pragma once

#include <cstdint>
#include <span>

#include "engine/partition/problem/remat_problem.h"

namespace recut::peak {

// The most bytes alive in one step. Every run must have its inputs.
std::int64_t peak_of(const RematProblem& problem, std::span<const std::int32_t> sequence);

}  // namespace recut::peak
