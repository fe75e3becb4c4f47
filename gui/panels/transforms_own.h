// The user's own part of the transforms: the file of rules, its diagnostics, and the offers to
// differentiate or to freeze a forward graph.
#pragma once

#include "gui/app/command.h"
#include "gui/draw/widgets.h"
#include "gui/panels/transforms_lines.h"

namespace recut::gui {

void draw_own(Ui& ui, const TransformLine& line, const Rect& rect, const DocumentView& document,
              Intents& intents);

}  // namespace recut::gui
