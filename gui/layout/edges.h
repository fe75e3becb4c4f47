// Edges between boxes: those of nodes, gathered.
#pragma once

#include "gui/layout/graph_layout.h"

namespace recut::gui::layout {

// Fills in edges, by the box that they lead to. No edge leads from a box to itself.
void gather_edges(const Scene& scene, GraphLayout& out);

std::uint8_t width_class_of(std::int64_t bytes);

}  // namespace recut::gui::layout
