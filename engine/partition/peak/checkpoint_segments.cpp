#include "engine/partition/peak/checkpoint_segments.h"

#include <algorithm>

namespace recut::peak {

std::vector<bool> checkpoints(const RematProblem& p, int segments) {
  std::vector<std::int32_t> position(p.size(), -1);
  std::int32_t n = 0;
  for (const std::int32_t c : p.order) {
    if (c == p.boundary()) break;
    position[c] = n++;
  }
  // Bytes that cross from each position of forward to later ones, and bytes made so far.
  std::vector<std::int64_t> crossing(n + 1, 0), made(n + 1, 0);
  std::vector<std::int32_t> last(p.storages(), -1);
  for (std::int32_t s = 0; s < p.storages(); ++s) {
    const std::int32_t at = position[p.producer(s)];
    if (at < 0) continue;
    made[at + 1] += p.bytes(s);
    for (const std::int32_t reader : p.readers(s)) last[s] = std::max(last[s], position[reader]);
    if (last[s] <= at) continue;
    crossing[at] += p.bytes(s);
    crossing[last[s]] -= p.bytes(s);
  }
  for (std::int32_t i = 0; i < n; ++i) crossing[i + 1] += crossing[i], made[i + 1] += made[i];

  std::vector<bool> cut(n + 1, false);
  std::int32_t begin = 0;
  for (int k = 1; k < segments; ++k) {
    // The narrowest cut within half a segment of where an equal share ends.
    const double low = (k - 0.5) / segments * static_cast<double>(made[n]);
    const double high = (k + 0.5) / segments * static_cast<double>(made[n]);
    std::int32_t best = -1;
    for (std::int32_t i = begin; i < n && static_cast<double>(made[i + 1]) <= high; ++i) {
      if (static_cast<double>(made[i + 1]) < low) continue;
      if (best < 0 || crossing[i] < crossing[best]) best = i;
    }
    if (best < 0) continue;
    cut[best] = true;
    begin = best + 1;
  }
  std::vector<bool> saved(p.storages(), false);
  std::vector<std::int32_t> cuts_before(n + 1, 0);
  for (std::int32_t i = 0; i < n; ++i) cuts_before[i + 1] = cuts_before[i] + (cut[i] ? 1 : 0);
  for (std::int32_t s = 0; s < p.storages(); ++s) {
    const std::int32_t at = position[p.producer(s)];
    // A cut at i lies between i and i + 1.
    if (at >= 0 && last[s] > at) saved[s] = cuts_before[last[s]] > cuts_before[at];
  }
  return saved;
}

}  // namespace recut::peak
