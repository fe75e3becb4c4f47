// The arena in the memory panel: each buffer of the schedule at its address, through the steps that
// it lives.
#pragma once

#include <string>

#include "gui/model/schedule_view.h"
#include "gui/panels/memory_parts.h"

namespace recut::gui {

// The arena as text: "arena 1.28 GiB, no packing has less", "arena 1.28 GiB, 16.7 MiB above the
// most alive at once"; with the excess if the plan holds the budget and the arena doesn't.
std::string arena_text(const ScheduleView& schedule, std::int64_t budget_bytes);
// A buffer's value, address and lifetime, as text.
std::string buffer_text(const ScheduleView& schedule, const Buffer& buffer);

// Across: steps. Up: bytes from the beginning of the arena. The buffers of `selected` stand out.
void draw_arena(const Ui& ui, const Plot& plot, const ScheduleView& schedule,
                const MemoryCache& cache, NodeId selected);
// Labels for the arena's end, and for the maximum of bytes alive at once.
void mark_arena(const Ui& ui, const Plot& plot, const ScheduleView& view, std::int64_t budget_bytes,
                Taken& taken);
// The buffer at a point; null if there is none.
const Buffer* buffer_at(const Plot& plot, const ScheduleView& schedule, ImVec2 at);

}  // namespace recut::gui
