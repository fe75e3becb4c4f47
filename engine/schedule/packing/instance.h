// Instances of the packing problem, with compressed time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/schedule/arena_interval.h"

namespace recut::packing {

// Intervals over time points 0, 1, …. At each point an interval starts and one ends. Two intervals
// overlap here exactly if they overlap in the input.
struct Instance {
  std::vector<ArenaInterval> intervals;
  std::vector<std::uint32_t> origins;  // position of each in the input
  std::vector<std::int64_t> load;      // total live size, by time
  std::int64_t bound = 0;              // the largest load

  std::uint32_t size() const { return static_cast<std::uint32_t>(intervals.size()); }
  std::uint32_t time_points() const { return static_cast<std::uint32_t>(load.size()); }
};

// Splits the input into ranges of time that no interval spans, in order. Empty intervals are
// dropped.
std::vector<Instance> independent_parts(std::span<const ArenaInterval> intervals);

// The interference graph: pairs of intervals that overlap in time, in compressed rows.
class Conflicts {
 public:
  // Nothing if there are more than `limit` pairs.
  static std::optional<Conflicts> of(const Instance& instance, std::int64_t limit);

  std::span<const std::uint32_t> of(std::uint32_t interval) const {
    return std::span(others_).subspan(first_[interval], first_[interval + 1] - first_[interval]);
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<std::uint32_t> others_;
};

}  // namespace recut::packing
