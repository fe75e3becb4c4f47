// The keyboard's cursor in the timeline, a step, and its moves. No drawing.
#pragma once

#include <optional>
#include <vector>

#include "gui/app/memory_view.h"

namespace recut::gui {

// The step at the keyboard's cursor: its last position as long as plan and selection are unchanged,
// else the first run of the selection. None if the selection doesn't run.
std::optional<std::size_t> cursor_step(const DocumentView& document, const MemoryView& view);

// Puts the cursor at a step, for the present selection and plan, and shows the step.
void place_cursor(const DocumentView& document, MemoryView& view, std::size_t step);

// The steps that make a value or read it, in order; through views as well as by itself.
std::vector<std::size_t> steps_using(const PlanView& plan, NodeId id);

}  // namespace recut::gui
