// A joint graph as a picture: what the canvas draws, standing still.
//
// Forward runs down a column on the left, backward up a column on the right, each backward operator
// beside its forward partner; what backward reads of forward are rungs between them
// (gui/layout/graph_layout.h).
#pragma once

#include <string>

#include "engine/ir/graph.h"
#include "gui/layout/graph_layout.h"
#include "gui/theme.h"

namespace recut::gui {

// Every node, as SVG.
std::string graph_svg(const Graph& graph, const Theme& theme);

// A layout of a scene of the graph: boxes, frames, routes and stubs.
std::string layout_svg(const Graph& graph, const layout::Scene& scene,
                       const layout::GraphLayout& layout, const Theme& theme);

}  // namespace recut::gui
