// What a schedule leaves free while a kernel runs.
#pragma once

#include <cstdint>

#include "engine/schedule/schedule.h"

namespace recut {

// Bytes of an arena.
struct ArenaSpan {
  std::int64_t offset = 0, bytes = 0;
};

// The largest span below the end of the last buffer that no buffer has while the kernel runs, but
// workspaces of its own calls; the lowest of those as large. What the calls write to beside their
// buffers costs the step nothing there. Of no bytes where the arena is full.
ArenaSpan free_span(const Schedule& schedule, std::uint32_t kernel);

}  // namespace recut
