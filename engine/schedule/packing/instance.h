// What a packing is asked for, cleared of what doesn't matter.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/schedule/arena_interval.h"

namespace recut::packing {

// Intervals over moments 0, 1, … of which none is without sense: at each something is alive that
// wasn't before, and something that isn't after. Two intervals meet here where they meet in the
// question.
struct Instance {
  std::vector<ArenaInterval> intervals;
  std::vector<std::uint32_t> origins;  // where each stood in the question
  std::vector<std::int64_t> load;      // alive, by moment
  std::int64_t bound = 0;              // the largest load

  std::uint32_t size() const { return static_cast<std::uint32_t>(intervals.size()); }
  std::uint32_t moments() const { return static_cast<std::uint32_t>(load.size()); }
};

// The parts of a question that share no moment, in order of time. What has no size is in none.
std::vector<Instance> independent_parts(std::span<const ArenaInterval> intervals);

// Who meets whom: compressed rows.
class Conflicts {
 public:
  // None where there are more than `most` pairs.
  static std::optional<Conflicts> of(const Instance& instance, std::int64_t most);

  std::span<const std::uint32_t> of(std::uint32_t interval) const {
    return std::span(others_).subspan(first_[interval], first_[interval + 1] - first_[interval]);
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<std::uint32_t> others_;
};

}  // namespace recut::packing
