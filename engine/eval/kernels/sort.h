#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace recut {

// The places of `values` in sorted order, equals in their own; NaN counts as the largest.
std::vector<std::int64_t> sorted_places(std::span<const double> values, bool descending);

}  // namespace recut
