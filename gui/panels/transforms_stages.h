// The stages of the passes, as headings of the list, with a switch each where all passes are listed.
#pragma once

#include "gui/app/command.h"
#include "gui/draw/widgets.h"
#include "gui/panels/transforms_lines.h"

namespace recut::gui {

// `idle`: all passes are listed.
void draw_stage(Ui& ui, const TransformLine& line, const Rect& rect, const DocumentView& document,
                bool idle, Intents& intents);

// The box of a switch before a row, filled if `on`. True when it was pressed.
bool switch_box(Ui& ui, const std::string& label, const Rect& box, bool on, bool enabled,
                const std::string& why);

}  // namespace recut::gui
