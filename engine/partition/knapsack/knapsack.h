// The 0/1 knapsack: the items with the most value within a capacity. Nothing here knows a tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace recut {

struct KnapsackSolution {
  double value = 0;         // of the items taken
  std::vector<bool> taken;  // by item
};

// PyTorch's default solver (torch/_functorch/_activation_checkpointing/knapsack.py, dp_knapsack),
// to the last bit: weights and capacity are rounded to ten-thousandths (halves to even), values
// add up in float32, and of equals the earlier items are taken. So items lighter than half of a
// ten-thousandth weigh nothing, and a value too small to change a float32 sum is never worth
// taking. Weights and capacity are 0 or more; capacity is at most 1, as PyTorch's budgets are, and
// larger ones count as 2^20 ten-thousandths at most. Time and bits: items x 10,000 x capacity.
KnapsackSolution quantised_knapsack(std::span<const double> weights, std::span<const float> values,
                                    double capacity);

// The best choice, exactly: dynamic programming over whole weights. Among equal values, earlier
// items are preferred. Time and bits: items x capacity.
KnapsackSolution exact_knapsack(std::span<const std::int64_t> weights,
                                std::span<const std::int64_t> values, std::int64_t capacity);

// Takes items by value per weight, descending, while they fit (PyTorch's `greedy`). Items without
// weight come first, where PyTorch divides by zero. Cost: O(items log items).
KnapsackSolution greedy_knapsack(std::span<const double> weights, std::span<const double> values,
                                 double capacity);

}  // namespace recut
