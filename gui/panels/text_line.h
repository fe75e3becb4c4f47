// One line of a graph's text form with its numbers, its sign and its changed words.
#pragma once

#include "gui/draw/ui.h"
#include "gui/text/graph_text.h"

namespace recut::gui {

inline constexpr float kTextLine = 18;  // units: the height of a line

// The colour of removed or added lines; otherwise the panel's.
Colour colour_of(const Theme& theme, Edit edit);

void draw_text_line(const Ui& ui, const Rect& row, const TextDifference& difference,
                    const DiffLine& line);

}  // namespace recut::gui
