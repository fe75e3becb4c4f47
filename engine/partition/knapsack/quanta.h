// The unit in which PyTorch's dynamic programs count weights: a ten-thousandth.
#pragma once

#include <cstdint>

namespace recut {

// Halves are rounded to even, as Python's round does.
std::int64_t quanta_of(double amount);

}  // namespace recut
