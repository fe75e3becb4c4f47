// A layout of a graph as a picture: what the canvas draws, standing still.
#pragma once

#include <string>

#include "engine/ir/graph.h"
#include "gui/layout/graph_layout.h"
#include "gui/theme.h"

namespace recut::gui {

// All boxes, frames, routes and stubs; SVG.
std::string layout_svg(const Graph& graph, const layout::Scene& scene,
                       const layout::GraphLayout& layout, const Theme& theme);

}  // namespace recut::gui
