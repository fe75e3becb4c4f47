// What a sequence comes to, counted plainly; sequence.h keeps it up to date while it changes.
#pragma once

#include <cstdint>
#include <span>

#include "engine/partition/problem/problem.h"

namespace recut::peak {

// The peak of a sequence: the most bytes alive in one step. Every run must have its inputs.
std::int64_t peak_of(const Problem& problem, std::span<const std::int32_t> sequence);

}  // namespace recut::peak
