// A joint graph as a picture: what the canvas draws, standing still.
//
// Forward runs down a column on the left, backward up a column on the right, each backward operator
// beside its forward partner; what backward reads of forward are rungs between them
// (gui/layout/graph_layout.h).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/ir/graph.h"
#include "gui/layout/graph_layout.h"
#include "gui/theme.h"

namespace recut::gui {

// What a plan makes of a layout, to be said by colour and shape.
struct BoxRole {
  layout::Role role = layout::Role::none;  // of a node; none: the plan doesn't know it
  bool result = false;                     // returned: a diamond besides
  // In a closed group: storages that are saved, and nodes.
  std::uint32_t saved = 0, again = 0, others = 0;
  std::int64_t bytes = 0;  // of those storages
};
struct RungRole {
  bool saved = false;  // some of what goes along it is
  bool again = false;  // all that is computed goes along it again
};
struct PictureRoles {
  std::string plan;                                          // "peak 4.25 GiB, step 66.4 ms"
  std::vector<std::pair<layout::Role, std::string>> legend;  // what each role comes to
  std::vector<BoxRole> boxes;                                // by box
  std::vector<RungRole> rungs;                               // by edge; of rungs alone
};

// Every node, as SVG.
std::string graph_svg(const Graph& graph, const Theme& theme);

// A layout of a scene of the graph: boxes, frames, routes and stubs; with `roles`, what a plan
// makes of them, and a legend.
std::string layout_svg(const Graph& graph, const layout::Scene& scene,
                       const layout::GraphLayout& layout, const Theme& theme,
                       const PictureRoles* roles = nullptr);

}  // namespace recut::gui
