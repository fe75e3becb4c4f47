#include "engine/partition/liveness/liveness.h"

namespace recut {

Liveness measure_liveness(std::span<const Lifetime> lifetimes, std::size_t steps) {
  std::vector<std::int64_t> change(steps + 1, 0);
  for (const Lifetime& life : lifetimes) {
    if (life.birth >= steps) continue;
    change[life.birth] += life.bytes;
    if (life.last_use < steps) change[life.last_use + 1] -= life.bytes;
  }
  Liveness liveness;
  liveness.live_bytes.reserve(steps);
  std::int64_t live = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    live += change[step];
    liveness.live_bytes.push_back(live);
    if (live > liveness.peak_bytes) {
      liveness.peak_bytes = live;
      liveness.peak_step = step;
    }
  }
  return liveness;
}

}  // namespace recut
