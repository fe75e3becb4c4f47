// The parts of the graph panel: their common state in a frame, and the function of each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/canvas/canvas.h"
#include "gui/canvas/ink.h"
#include "gui/draw/widgets.h"

namespace recut::gui {

// A mark for edges without a route, where it stands on the screen in this frame.
struct StubSpot {
  Rect rect;
  std::uint32_t stub = 0;
};

struct GraphMemory {
  // The pointer.
  bool panning = false;
  bool hovers = false;  // this panel set the hovered node
  bool moved = false;   // since the button went down: not a click
  ImVec2 last;
  // The state, position and subject of the menu.
  bool menu = false;
  ImVec2 menu_at;
  NodeId menu_node;
  layout::GroupId menu_group;
  std::vector<NodeId> menu_ends;  // of a stub with several edges
  // The minimap's bars, made again when their key changes.
  struct Bar {
    float top = 0, bottom = 0;
    bool backward = false;
    Colour colour = 0;
  };
  std::vector<Bar> bars;
  int bars_marks = 0;
  const Theme* bars_theme = nullptr;
  float bars_height = 0;
  // The matches of the search that the canvas marks.
  std::vector<std::uint32_t> matched;  // boxes
  int matched_picture = 0;
  std::shared_ptr<const std::vector<NodeId>> matched_found;
  SharedComparison matched_by;

  layout::Visible visible;
  std::vector<StubSpot> stubs;
  float free_right = 1e9f;          // where the minimap begins
  std::vector<std::uint8_t> again;  // by box: "again" has been drawn
};

// The subject of a canvas.
struct Subject {
  Pane pane = Pane::here;
  ShownGraph shown;
  Selection selection;                         // of the shown graph
  const OverrideRequest* overrides = nullptr;  // of the user
  SharedComparison comparison;                 // null where there is one pane, or none is there yet

  const ComparedSide* side() const {
    if (comparison == nullptr) return nullptr;
    return pane == Pane::here ? &comparison->here : &comparison->there;
  }
};

// A frame of the canvas.
struct GraphPaneContext {
  Ui& ui;
  const PanelInput& input;
  const DocumentView& document;  // in front
  const Subject& subject;
  Canvas& canvas;
  GraphMemory& memory;
  Intents& intents;
  const Picture& picture;
  const PlanMarks& marks;
  const View view;
  const Ink ink;
  float arrived = 1;  // of the picture's boxes, on their way from where they were

  const layout::GraphLayout& layout() const { return picture.layout; }
  // Lengths in units of the layout, in pixels.
  float length(float units) const { return units * view.pixels(); }
  // The scale of text in boxes: 1, or less if the zoom leaves less room.
  float type_size() const;
  bool names() const { return view.zoom() >= 0.5f; }
  bool details() const { return view.zoom() >= 0.62f; }
  int lines() const;  // of attributes that fit below a name
  // True if boxes are too small to be told apart: groups are drawn as their contents.
  bool is_overview() const { return layout::kBoxHeight * view.pixels() < 2; }
  Rect rect_of(std::uint32_t box) const;  // on the screen, on its way
  bool moving() const { return arrived < 1; }
  bool is_here() const { return subject.pane == Pane::here; }
  // False for a graph that isn't compared yet, without known partners.
  bool can_tell() const { return is_here() || subject.comparison != nullptr; }
  // Pushes the intent of a click, for a node of this pane's graph.
  void select(NodeId node) const;
  void hover(NodeId node) const;
  // The mesh that the shown graph is a rank of, if boxes have the tints of placements; else null.
  const MeshView* mesh() const;
  const BoxDifferences* differences(std::uint32_t box) const {
    return canvas.differences ? &canvas.differences->boxes[box] : nullptr;
  }
};

// graph_frames.cpp
void draw_frames(const GraphPaneContext& context);
void draw_titles(const GraphPaneContext& context);  // of frames, over the wires
// The part of a frame that has its name: at the area's edge, if the frame begins left of it.
Rect titled_part(const GraphPaneContext& context, const layout::Rect& frame);
// Draws the saved, repeated and other nodes of a closed group as a bar of three parts.
void draw_composition(const GraphPaneContext& context, const Rect& rect, const BoxMarks& marks,
                      double opacity = 1);
constexpr float kFold = 9;  // units: the side of a +/- box

// graph_boxes.cpp
void draw_boxes(const GraphPaneContext& context);
void draw_selection(const GraphPaneContext& context);

// graph_edges.cpp
void draw_routes(const GraphPaneContext& context);
void draw_rung_text(
    const GraphPaneContext& context);  // beside the labels of stubs, which are drawn before
void draw_edges_of_selection(const GraphPaneContext& context);

// graph_stubs.cpp
void draw_stubs(const GraphPaneContext& context);
const StubSpot* stub_at(const GraphPaneContext& context, ImVec2 at);
// The boxes at the other ends of a mark.
std::vector<layout::BoxId> ends_of(const GraphPaneContext& context, const layout::Stub& stub);

// graph_differences.cpp
void draw_differences(const GraphPaneContext& context);
// `size`: of the square that it fills, in pixels.
void draw_difference_sign(const Ui& ui, ImVec2 centre, float size, Difference kind);

// graph_mesh.cpp
// The tint of a box on a mesh; none without a mesh, and between two placements.
std::optional<Colour> placement_tint(const GraphPaneContext& context, std::uint32_t box);
std::int64_t sent_at(const GraphPaneContext& context, std::uint32_t box);  // by a collective
std::string placement_text(const GraphPaneContext& context, NodeId node);
void draw_placement_legend(const GraphPaneContext& context);

// graph_flow.cpp
void draw_flow(const GraphPaneContext& context);

// graph_minimap.cpp
void draw_minimap(const GraphPaneContext& context);

// graph_pointer.cpp
void answer_pointer(const GraphPaneContext& context, const WidgetResponse& touched);

// graph_tooltip.cpp
void draw_tooltip(const GraphPaneContext& context);
void draw_menu(const GraphPaneContext& context);

// graph_heading.cpp
void draw_heading(const GraphPaneContext& context);
void draw_sides(const GraphPaneContext& context);
void draw_footer(const GraphPaneContext& context);

// graph.cpp
// A canvas and its graph, before there is a picture of it.
struct PaneFrame {
  const DocumentView& document;  // in front
  const Subject& subject;
  Canvas& canvas;
  GraphMemory& memory;
  bool follows = false;  // another canvas moves this one
  bool reveals = true;   // a selection elsewhere is shown, out of closed groups
};
// Has the requested picture and marks made, and the camera on its way. False while there
// is nothing to draw.
bool prepare_pane(const PanelInput& input, const PaneFrame& pane, Intents& intents);
void draw_pane(Ui& ui, const PanelInput& input, const PaneFrame& pane, Intents& intents);

// graph_panes.cpp
void draw_panes(Ui& ui, const PanelInput& input, const DocumentView& document, Rect area,
                Intents& intents);

// The frame or box of a group as the foldable thing that it is: its label among the items.
std::string fold_label(const layout::Group& group);

}  // namespace recut::gui
