// The step of the timeline that the keys are at, and where they go from there. No drawing.
#pragma once

#include <optional>
#include <vector>

#include "gui/app/memory_view.h"

namespace recut::gui {

// The step at the keyboard's cursor: its last position as long as plan and selection are unchanged,
// else the first run of the selection. None if the selection doesn't run.
std::optional<std::size_t> cursor_step(const DocumentView& document, const MemoryView& view);

// Has the cursor stand there, for the selection and the plan as they are; the step is shown.
void place_cursor(const DocumentView& document, MemoryView& view, std::size_t step);

// The steps that make a value or read it, in order; through views as well as by itself.
std::vector<std::size_t> steps_using(const PlanView& plan, NodeId id);

}  // namespace recut::gui
