// The occupied part of the plane of time × offset.
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

  // The lowest free offset at or above `from` for `size`. Each range on the way uses up one of
  // `hops`; if none are left, returns an offset on the way.
  std::int64_t lowest_fit(std::int64_t from, std::int64_t size, int& hops) const;

  std::int64_t top() const { return ranges_.back().high; }

 private:
  struct Range {
    std::int64_t low = 0, high = 0;
  };
  std::vector<Range> ranges_;  // in order
};

// A segment tree over time. A node has the offsets occupied by intervals that cover it but not its
// parent, and those occupied at any of its points. So a query unites about 4 log2(points) nodes.
// Dense packings leave few ranges in each.
class OccupiedSpace {
 public:
  explicit OccupiedSpace(std::uint32_t time_points);

  // The lowest offset at which `interval` overlaps nothing. After thousands of gaps, an offset
  // above everything, which bounds the time of a query.
  std::int64_t lowest_fit(const ArenaInterval& interval) const;
  void take(const ArenaInterval& interval, std::int64_t offset);

 private:
  std::uint32_t leaves_ = 1;  // a power of two; leaf t is node leaves_ + t
  std::vector<OffsetRanges> covering_;
  std::vector<OffsetRanges> anywhere_;
};

}  // namespace recut::packing
