// The lowest packing of a few intervals, by trying all that can matter: the judge of arena.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/schedule/arena.h"

namespace recut::test {

// Every packing can be pushed down until each interval lies on the ground or on another; put in
// from the lowest up, each then lies on the highest of those before it that it meets. So trying
// all orders, each interval on top of what it meets, finds the lowest. Up to about nine intervals.
class ExactPacking {
 public:
  explicit ExactPacking(std::span<const ArenaInterval> intervals)
      : intervals_(intervals.begin(), intervals.end()), offsets_(intervals.size(), -1) {
    for (const ArenaInterval& interval : intervals) best_ += interval.size;
    place(0, 0, 0);
  }

  std::int64_t height() const { return best_; }

 private:
  void place(std::size_t placed, std::int64_t floor, std::int64_t height) {
    if (height >= best_) return;
    if (placed == intervals_.size()) {
      best_ = height;
      return;
    }
    for (std::size_t i = 0; i < intervals_.size(); ++i) {
      if (offsets_[i] >= 0) continue;
      const std::int64_t offset = top_below(i);
      if (offset < floor) continue;  // another order puts it in earlier
      offsets_[i] = offset;
      place(placed + 1, offset, std::max(height, offset + intervals_[i].size));
      offsets_[i] = -1;
    }
  }

  std::int64_t top_below(std::size_t i) const {
    std::int64_t top = 0;
    for (std::size_t j = 0; j < intervals_.size(); ++j)
      if (offsets_[j] >= 0 && intervals_[i].first <= intervals_[j].last &&
          intervals_[j].first <= intervals_[i].last)
        top = std::max(top, offsets_[j] + intervals_[j].size);
    return top;
  }

  std::vector<ArenaInterval> intervals_;
  std::vector<std::int64_t> offsets_;  // -1: not placed
  std::int64_t best_ = 0;
};

}  // namespace recut::test
