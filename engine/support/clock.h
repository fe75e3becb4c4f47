// The clock for timing plans, steps and compilations.
#pragma once

#include <chrono>

namespace recut {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}
inline double ms_since(Clock::time_point began) { return seconds_since(began) * 1e3; }

}  // namespace recut
