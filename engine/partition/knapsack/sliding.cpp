#include <algorithm>
#include <utility>

#include "engine/partition/knapsack/knapsack.h"
#include "engine/partition/knapsack/quanta.h"
#include "engine/support/check.h"

// A row tells the most value within each capacity, for a range of items:
//
//   items [start, end), capacity c:   row of [middle, end) at s  +  row of [start, middle) at c - s
//
// The s of the largest sum divides the capacity, and each half is solved alone. A range of one item
// takes it if it fits.

namespace recut {
namespace {

struct Segment {
  std::size_t start = 0, end = 0;
  std::int64_t capacity = 0;
};

class SlidingKnapsack {
 public:
  SlidingKnapsack(std::span<const double> weights, std::span<const float> values, double capacity)
      : values_(values), capacity_(quanta_of(capacity)) {
    RECUT_CHECK(weights.size() == values.size(), "a weight and a value for each item");
    for (const double weight : weights) weights_.push_back(quanta_of(weight));
  }

  KnapsackSolution run() {
    KnapsackSolution choice{0, std::vector<bool>(weights_.size(), false)};
    if (weights_.empty()) return choice;
    std::vector<Segment> stack{{0, weights_.size(), capacity_}};
    while (!stack.empty()) {
      const Segment segment = stack.back();
      stack.pop_back();
      if (segment.end - segment.start > 1)
        divide(segment, stack);
      else
        choice.taken[segment.start] =
            weights_[segment.start] <= segment.capacity && values_[segment.start] > 0;
    }
    for (std::size_t i = 0; i < weights_.size(); ++i)
      if (choice.taken[i]) choice.value += static_cast<double>(values_[i]);
    return choice;
  }

 private:
  void divide(const Segment& segment, std::vector<Segment>& stack) const {
    const std::size_t middle = segment.start + (segment.end - segment.start) / 2;
    const std::vector<float> left = row_of(middle, segment.end, segment.capacity);
    const std::vector<float> right = row_of(segment.start, middle, segment.capacity);
    const auto last = static_cast<std::size_t>(segment.capacity);
    std::size_t share = 0;
    float most = left[0] + right[last];
    for (std::size_t c = 1; c <= last; ++c)
      if (const float sum = left[c] + right[last - c]; sum > most) {
        most = sum;
        share = c;
      }
    // PyTorch's one quantum too many, which the whole capacity bounds.
    const std::int64_t rest = segment.capacity + 1 - static_cast<std::int64_t>(share);
    stack.push_back({segment.start, middle, std::min(rest, capacity_)});
    stack.push_back({middle, segment.end, static_cast<std::int64_t>(share)});
  }

  std::vector<float> row_of(std::size_t start, std::size_t end, std::int64_t capacity) const {
    std::vector<float> row(static_cast<std::size_t>(capacity) + 1, 0.0F);
    for (std::size_t i = start; i < end; ++i) {
      if (weights_[i] > capacity) continue;
      const auto weight = static_cast<std::size_t>(weights_[i]);
      if (weight == 0)
        for (float& value : row) value += values_[i];
      else
        for (std::size_t c = row.size(); c-- > weight;)
          row[c] = std::max(row[c], row[c - weight] + values_[i]);
    }
    return row;
  }

  const std::span<const float> values_;
  const std::int64_t capacity_;
  std::vector<std::int64_t> weights_;
};

}  // namespace

KnapsackSolution sliding_knapsack(std::span<const double> weights, std::span<const float> values,
                                  double capacity) {
  return SlidingKnapsack(weights, values, capacity).run();
}

}  // namespace recut
