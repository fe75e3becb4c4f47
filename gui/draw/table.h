// The columns of a narrow table: its names come first.
#pragma once

#include <vector>

#include "gui/draw/ui.h"

namespace recut::gui {

// Pixels that a table gives its names before other columns: as the longest takes, within bounds.
float room_for_names(const Ui& ui, float longest);

// The number of columns of these widths, from the first on, that leave the width `names` of `room`.
std::size_t columns_beside(float names, float room, const std::vector<float>& widths);

}  // namespace recut::gui
