// A sample in a list, wherever samples are offered.
#pragma once

#include <string>

#include "gui/backend/backend.h"
#include "gui/draw/widgets.h"

namespace recut::gui {

inline constexpr float kSampleRow = 26;  // units

// Name, what it shows, nodes and peak, from the left; where there is little room, the name alone.
void sample_cells(Ui& ui, const Backend& backend, const std::string& name, Rect line);

}  // namespace recut::gui
