// A joint graph as a picture: forward as a column from top to bottom, each backward operator beside
// its forward partner, so that backward runs from bottom to top; what backward reads of forward as
// rungs between them.
#pragma once

#include <string>

#include "engine/ir/graph.h"
#include "gui/theme.h"

namespace recut::gui {

std::string graph_svg(const Graph& graph, const Theme& theme);

}  // namespace recut::gui
