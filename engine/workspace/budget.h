// Budgets as people write them.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/partition/strategy.h"
#include "engine/support/result.h"

namespace recut {

// "none": no budget. Strategy torch: a fraction of the saved bytes, 0 … 1. Others: bytes
// ("3GiB", "1000000"), or "40%" of `unplanned_peak_bytes`, the peak without recomputation. Fails on
// anything else, no text, zero and less included.
Result<Budget> parse_budget(std::string_view text, std::string_view strategy,
                            std::int64_t unplanned_peak_bytes);

}  // namespace recut
