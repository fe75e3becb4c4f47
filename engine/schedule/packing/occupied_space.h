// Which places of moments × offsets are taken.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/schedule/arena_interval.h"

namespace recut::packing {

// A set of offsets, as ranges that neither overlap nor touch.
class OffsetRanges {
 public:
  bool empty() const { return ranges_.empty(); }
  void add(std::int64_t low, std::int64_t high);

  // The lowest place at or above `from` for `size`. Each range on the way takes one of `hops`;
  // where there are none left, somewhere on the way.
  std::int64_t lowest_fit(std::int64_t from, std::int64_t size, int& hops) const;

  std::int64_t top() const { return ranges_.back().high; }

 private:
  struct Range {
    std::int64_t low = 0, high = 0;
  };
  std::vector<Range> ranges_;  // in order
};

// A segment tree over the moments. A node knows what is taken at all of its moments by intervals
// that cover it and not its parent, and what is taken at any of them; so that the places taken
// anywhere within an interval are those of about 4 log2(moments) nodes. Dense packings leave few
// ranges in each.
class OccupiedSpace {
 public:
  explicit OccupiedSpace(std::uint32_t moments);

  // The lowest offset at which `interval` meets nothing, or where there are thousands of gaps to
  // look into, one above them all: no question takes long.
  std::int64_t lowest_fit(const ArenaInterval& interval) const;
  void take(const ArenaInterval& interval, std::int64_t offset);

 private:
  std::uint32_t leaves_ = 1;  // a power of two; leaf t is node leaves_ + t
  std::vector<OffsetRanges> covering_;
  std::vector<OffsetRanges> anywhere_;
};

}  // namespace recut::packing
