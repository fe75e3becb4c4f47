#include "engine/schedule/free_span.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace recut {

ArenaSpan free_span(const Schedule& schedule, std::uint32_t kernel) {
  std::vector<std::pair<std::int64_t, std::int64_t>> taken;
  std::int64_t top = 0;
  for (const Buffer& buffer : schedule.buffers) {
    top = std::max(top, buffer.offset + buffer.bytes);
    if (buffer.first_kernel <= kernel && kernel <= buffer.last_kernel && !buffer.workspace)
      taken.emplace_back(buffer.offset, buffer.offset + buffer.bytes);
  }
  std::sort(taken.begin(), taken.end());
  taken.emplace_back(top, top);
  ArenaSpan largest;
  std::int64_t end = 0;
  for (const auto& [from, to] : taken) {
    const std::int64_t begin = aligned(end, schedule.alignment);
    if (from - begin > largest.bytes) largest = {begin, from - begin};
    end = std::max(end, to);
  }
  return largest;
}

}  // namespace recut
