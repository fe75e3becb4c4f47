// The sizes of a graph's symbols below the trade-off, each with a slider beside the budget.
#pragma once

#include "gui/app/panel.h"
#include "gui/draw/ui.h"

namespace recut::gui {

// Draws them at the lower end of the area and takes their rows off; nothing of a graph of fixed
// sizes, and on the first screen.
void draw_sizes(Ui& ui, const PanelInput& input, const DocumentView& document, Rect& area,
                Intents& intents);

}  // namespace recut::gui
