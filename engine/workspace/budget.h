// Parses budgets as users write them.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/partition/strategy.h"
#include "engine/support/result.h"

namespace recut {

// Reads a budget. "none": no budget. Strategy torch: a fraction of the saved bytes, 0 … 1. Others:
// bytes ("3GiB", "1000000"), or "40%" of `baseline_peak_bytes`. Fails on anything else, including
// empty text, zero and negative numbers.
Result<Budget> parse_budget(std::string_view text, std::string_view strategy,
                            std::int64_t baseline_peak_bytes);

}  // namespace recut
