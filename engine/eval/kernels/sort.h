#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace recut {

// The permutation that sorts `values` stably; NaN counts as the largest.
std::vector<std::int64_t> stable_argsort(std::span<const double> values, bool descending);

}  // namespace recut
