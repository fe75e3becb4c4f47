// A sample in a list, wherever samples are offered.
#pragma once

#include <string>

#include "gui/backend/backend.h"
#include "gui/draw/widgets.h"

namespace recut::gui {

inline constexpr float kSampleRow = 26;  // units

// Name, subject, nodes and peak, from the left; the name alone if there is little room.
void sample_cells(Ui& ui, const Backend& backend, const std::string& name, Rect line);

}  // namespace recut::gui
