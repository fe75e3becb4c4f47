// The 0/1 knapsack: the items with the most value within a capacity. Nothing here knows a tensor.
//
// Three solvers are PyTorch's to the last bit (torch/_functorch/_activation_checkpointing/
// knapsack.py). Two of them count in quanta: weights and capacity are rounded to ten-thousandths
// (halves to even), and values add up in float32. So items lighter than half of a ten-thousandth
// weigh nothing, and a value too small to change a float32 sum is never worth taking. Weights and
// capacity are 0 or more; capacity is at most 1, as PyTorch's budgets are, and larger ones count as
// 2^20 ten-thousandths at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace recut {

struct KnapsackSolution {
  double value = 0;         // of the items taken
  std::vector<bool> taken;  // by item
};

// PyTorch's default (`dp_knapsack`), in quanta. Of equals the earlier items are taken. Time and
// bits: items x 10,000 x capacity.
KnapsackSolution quantised_knapsack(std::span<const double> weights, std::span<const float> values,
                                    double capacity);

// PyTorch's `dp_knapsack_sliding_hirschberg`, in quanta: halves the items again and again, and
// shares the capacity among the halves (Hirschberg 1975). PyTorch gives the second half one quantum
// too many, so that the taken items may weigh some quanta more than the capacity; so does this.
// Time: items x 10,000 x capacity x log items; memory: 10,000 x capacity.
KnapsackSolution sliding_knapsack(std::span<const double> weights, std::span<const float> values,
                                  double capacity);

// Takes items by value per weight, descending, while they fit (PyTorch's `greedy_knapsack`). Items
// without weight come first, where PyTorch divides by zero. Cost: O(items log items).
KnapsackSolution greedy_knapsack(std::span<const double> weights, std::span<const double> values,
                                 double capacity);

// The best choice, exactly, over whole weights: lists of undominated sums (Nemhauser and Ullmann
// 1969), cut off by the bound of the fractional problem (Dantzig 1957). Values below 2^53 add up
// exactly if they are whole. None where more than kMaxKnapsackSums sums would be kept; the worst
// case is exponential, that of a planner's items is far from it.
inline constexpr std::size_t kMaxKnapsackSums = std::size_t{1} << 22;
std::optional<KnapsackSolution> exact_knapsack(std::span<const std::int64_t> weights,
                                               std::span<const double> values,
                                               std::int64_t capacity);

}  // namespace recut
