// The parts of the graph panel: what they share of a frame, and what each draws.
#pragma once

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
  bool hovers = false;  // what is hovered was told by this panel
  bool moved = false;   // since the button went down: not a click
  ImVec2 last;
  // The menu: where it was asked for, and about what.
  bool menu = false;
  ImVec2 menu_at;
  NodeId menu_node;
  layout::GroupId menu_group;
  std::vector<NodeId> menu_ends;  // of a stub with several edges
  // The minimap's bars, made anew when their key changes.
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

  layout::Visible visible;
  std::vector<StubSpot> stubs;
  float free_right = 1e9f;  // where the minimap begins
  std::vector<std::uint8_t> again;  // by box: "again" has been drawn
};

// A frame of the canvas.
struct Stage {
  Ui& ui;
  const PanelInput& input;
  const DocumentView& document;
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
  // Of text in boxes: 1, or less where the zoom leaves less room.
  float type_size() const;
  bool names() const { return view.zoom() >= 0.5f; }
  bool details() const { return view.zoom() >= 0.62f; }
  int lines() const;                      // of attributes that fit below a name
  // Boxes are too small to be told apart: groups are drawn as what they hold.
  bool is_overview() const { return layout::kBoxHeight * view.pixels() < 2; }
  Rect rect_of(std::uint32_t box) const;  // on the screen, on its way
  bool moving() const { return arrived < 1; }
};

// graph_boxes.cpp
void draw_frames(const Stage& stage);
void draw_boxes(const Stage& stage);
void draw_selection(const Stage& stage);

// graph_edges.cpp
void draw_routes(const Stage& stage);
void draw_edges_of_selection(const Stage& stage);

// graph_stubs.cpp
void draw_stubs(const Stage& stage);
const StubSpot* stub_at(const Stage& stage, ImVec2 at);
// The boxes at the other ends of a mark.
std::vector<layout::BoxId> ends_of(const Stage& stage, const layout::Stub& stub);

// graph_minimap.cpp
void draw_minimap(const Stage& stage);

// graph_pointer.cpp
void answer_pointer(const Stage& stage, const Touch& touched);

// graph_card.cpp
void draw_card(const Stage& stage);
void draw_menu(const Stage& stage);

// graph_heading.cpp
void draw_heading(const Stage& stage);
void draw_sides(const Stage& stage);
void draw_footer(const Stage& stage);

// The frame or box of a group as the foldable thing that it is: its label among the items.
std::string fold_label(const layout::Group& group);

}  // namespace recut::gui
