// Free bytes of the arena while a kernel runs.
#pragma once

#include <cstdint>

#include "engine/schedule/schedule.h"

namespace recut {

// A range of bytes in an arena.
struct ArenaSpan {
  std::int64_t offset = 0, bytes = 0;
};

// The largest range below the end of the last buffer that no live buffer overlaps, except
// workspaces of the kernel's own calls; the lowest one of equals. Library calls can use it as
// workspace without raising the peak. Empty if the arena is full.
ArenaSpan free_span(const Schedule& schedule, std::uint32_t kernel);

}  // namespace recut
