// One line of a graph's text form with its numbers, its sign and what changed in it.
#pragma once

#include "gui/draw/ui.h"
#include "gui/text/graph_text.h"

namespace recut::gui {

inline constexpr float kTextLine = 18;  // units: the height of a line

// The colour of what was removed or added; that of the panel otherwise.
Colour colour_of(const Theme& theme, Edit edit);

void draw_text_line(const Ui& ui, const Rect& row, const TextDifference& difference,
                    const DiffLine& line);

}  // namespace recut::gui
