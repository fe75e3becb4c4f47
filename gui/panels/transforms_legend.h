// The legend: each role's colour and shape, and what the plan makes of it.
#pragma once

#include "gui/app/command.h"
#include "gui/draw/widgets.h"
#include "gui/panels/transforms_lines.h"

namespace recut::gui {

float legend_height(const Ui& ui);
void draw_legend(Ui& ui, const App& app, Rect area, const Transforms& memory, Intents& intents);

}  // namespace recut::gui
