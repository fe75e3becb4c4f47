// Polylines for the edges that are short, stubs for the rest.
#pragma once

#include "gui/layout/graph_layout.h"
#include "gui/layout/inner_layouts.h"

namespace recut::gui::layout {

constexpr float kLongest = 14 * kPitch;  // the longest downward span of a route
constexpr std::uint32_t kManyEdges =
    10;  // out of or into one box: beyond that, only neighbours are routes

// Fills in the edges' points, and edge_order and the bands' edges. Needs boxes, bands, edges and
// the grid. False if it was stopped.
bool find_routes(GraphLayout& out, Stopper& stop);

// Stubs for edges without points.
void make_stubs(GraphLayout& out);

}  // namespace recut::gui::layout
