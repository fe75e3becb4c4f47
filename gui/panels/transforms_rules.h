// The rules that fired in the pass that is shown: each with its hits, and of one hit the node as it
// was and what it became.
#pragma once

#include "gui/app/command.h"
#include "gui/draw/widgets.h"
#include "gui/panels/transforms_lines.h"

namespace recut::gui {

void draw_rules(Ui& ui, const TransformLine& line, const Rect& rect, Transforms& memory,
                const DocumentView& document, Intents& intents);

}  // namespace recut::gui
