// The fates of a frozen graph's weights.
#pragma once

#include "gui/app/command.h"
#include "gui/draw/widgets.h"
#include "gui/panels/transforms_lines.h"

namespace recut::gui {

void draw_frozen(Ui& ui, const TransformLine& line, const Rect& rect, Transforms& memory,
                 const DocumentView& document, Intents& intents);

}  // namespace recut::gui
