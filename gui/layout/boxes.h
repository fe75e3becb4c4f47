// Places boxes and frames by the layouts of the open groups.
#pragma once

#include "gui/layout/group_layout.h"

namespace recut::gui::layout {

// Fills in boxes, bands, box_of and bounds.
void place_boxes(const Scene& scene, const OpenLayouts& layouts, GraphLayout& out);

}  // namespace recut::gui::layout
