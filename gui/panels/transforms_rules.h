// The rules that fired in the shown pass: each with its hits, and of one hit the node before and
// after.
#pragma once

#include "gui/app/command.h"
#include "gui/draw/widgets.h"
#include "gui/panels/transforms_lines.h"

namespace recut::gui {

void draw_rules(Ui& ui, const TransformLine& line, const Rect& rect, Transforms& memory,
                const DocumentView& document, Intents& intents);

}  // namespace recut::gui
