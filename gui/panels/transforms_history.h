// The history of the selected node: every pass in which its line changed, and its fate in the plan.
#pragma once

#include "gui/app/command.h"
#include "gui/draw/widgets.h"
#include "gui/panels/transforms_lines.h"

namespace recut::gui {

// A line of the kinds title, event, fate and run. A click goes to its pass.
void draw_history(Ui& ui, const TransformLine& line, const Rect& rect, const Transforms& memory,
                  const DocumentView& document, Intents& intents);

}  // namespace recut::gui
