// Random programs with nested graphs, writes in place and aliases (program.h).
#pragma once

#include <cstdint>
#include <functional>

#include "tests/random/program.h"

namespace recut::test {

// The same for the same seed on every platform. Nested graphs are up to two deep. Results may be
// inputs, views of inputs and of each other, and the same value twice.
ProgramBody random_program(std::uint64_t seed);

// The smallest program found for which `fails` still holds, by dropping results and calls.
ProgramBody shrink_program(ProgramBody body, const std::function<bool(const ProgramBody&)>& fails);

}  // namespace recut::test
