// The sentence above the trade-off: the plan's cost, its distance from the proved bound, and
// PyTorch's plan beside it.
#pragma once

#include "gui/app/panel.h"
#include "gui/draw/ui.h"

namespace recut::gui {

// Draws it at the top of the area and takes its lines off; nothing on the first screen, which has
// it in larger letters, of a forward graph, and where the plot would have little room.
void draw_cost(Ui& ui, const PanelInput& input, const DocumentView& document, Rect& area);

}  // namespace recut::gui
