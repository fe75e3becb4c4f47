// A joint graph as a picture, as the canvas draws it.
//
// Forward runs down a column on the left, backward up a column on the right, each backward operator
// beside its forward partner; forward values that backward reads are rungs between them
// (gui/layout/graph_layout.h).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/ir/graph.h"
#include "gui/layout/graph_layout.h"
#include "gui/pictures/look.h"

namespace recut::gui {

// A plan's roles for a layout, to be shown by colour and shape.
struct BoxRole {
  layout::Role role = layout::Role::none;  // of a node; none: the plan doesn't know it
  bool result = false;                     // returned: a diamond besides
  // The counts of a closed group: saved storages, and nodes.
  std::uint32_t saved = 0, again = 0, others = 0;
  std::int64_t bytes = 0;  // of those storages
};
struct RungRole {
  bool saved = false;  // some of its values are saved
  bool again = false;  // all its computed values are recomputed
};
struct PictureRoles {
  std::string plan;                                          // "peak 4.25 GiB, step 66.4 ms"
  std::vector<std::pair<layout::Role, std::string>> legend;  // each role with its total
  std::vector<BoxRole> boxes;                                // by box
  std::vector<RungRole> rungs;                               // by edge; of rungs alone
};

// Every node, as SVG. On paper: groups are closed from the inside out until the text can be read at
// that width; where it can't even so, the picture is wider than was asked for (least_print_mm).
std::string graph_svg(const Graph& graph, const PictureLook& look);

// The width on paper, in millimetres, from which the graph can be read with its groups closed.
double least_print_mm(const Graph& graph);

// A layout of a scene of the graph: boxes, frames, routes and stubs; with `roles`, their fate in a
// plan, and a legend.
std::string layout_svg(const Graph& graph, const layout::Scene& scene,
                       const layout::GraphLayout& layout, const PictureLook& look,
                       const PictureRoles* roles = nullptr);

}  // namespace recut::gui
