// The bytes alive at each step of a sequence, in O(lifetimes + steps): a difference array of births
// and deaths, then its prefix sums. Nothing here knows a tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace recut {

// `bytes` that are alive from step `birth` to step `last_use`, both included.
struct Lifetime {
  std::int64_t bytes = 0;
  std::size_t birth = 0;
  std::size_t last_use = 0;
};

struct Liveness {
  std::vector<std::int64_t> live_bytes;  // by step
  std::int64_t peak_bytes = 0;
  std::size_t peak_step = 0;  // the first step with the peak; 0 without steps
};

// Steps count from 0; a last use past the end means to the end.
Liveness measure_liveness(std::span<const Lifetime> lifetimes, std::size_t steps);

}  // namespace recut
