// The pointer on the canvas: drag, wheel, click, double click, right click.
#include <cmath>

#include "gui/canvas/box_labels.h"
#include "gui/canvas/walk.h"
#include "gui/panels/graph_parts.h"

// One button both drags and clicks, so each press begins as a possible drag:
//   press, 2 units, release ⇒ click      press, 5 units, release ⇒ pan, no click
// `moved` tells the two apart, and stays set until no button is down. The order of answers is
// fixed: wheel and pan, then menu, double click, mark, box or frame. A mark answers only where no
// box is. The camera moves without an intent. Folding pushes one with Group::key, because a group's
// index holds for one picture only.

namespace recut::gui {
namespace {

constexpr double kWheel = 1.18;  // a step of the wheel
constexpr float kStill = 3;      // units: a drag shorter than that is a click

bool is_drag_button() {
  return ImGui::IsMouseDown(ImGuiMouseButton_Left) || ImGui::IsMouseDown(ImGuiMouseButton_Middle);
}

void wheel(const GraphPaneContext& context) {
  const ImGuiIO& io = ImGui::GetIO();
  Canvas& canvas = context.canvas;
  if (io.MouseWheel == 0 && io.MouseWheelH == 0) return;
  if (io.KeyShift || io.MouseWheelH != 0) {  // sideways, as elsewhere
    const float by = context.ui.px(60) * (io.MouseWheelH + (io.KeyShift ? io.MouseWheel : 0));
    return jump(canvas, moved(canvas.view(), by, 0));
  }
  const double zoom = canvas.at.zoom * std::pow(kWheel, static_cast<double>(io.MouseWheel));
  jump(canvas, zoomed(canvas.view(), io.MousePos, canvas.scale, zoom));
}

void pan(const GraphPaneContext& context, const WidgetResponse& touched) {
  GraphMemory& memory = context.memory;
  const ImVec2 at = ImGui::GetIO().MousePos;
  const bool begins = ImGui::IsMouseClicked(ImGuiMouseButton_Left) ||
                      ImGui::IsMouseClicked(ImGuiMouseButton_Middle);
  if (touched.hovered && begins) {
    memory.panning = true;
    memory.moved = false;
    memory.last = at;
  }
  if (!memory.panning) return;
  if (!is_drag_button()) {
    memory.panning = false;
    return;
  }
  const float dx = at.x - memory.last.x, dy = at.y - memory.last.y;
  if (!memory.moved && std::hypot(dx, dy) < context.ui.px(kStill)) return;
  memory.moved = true;
  memory.last = at;
  ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeAll);
  if (dx != 0 || dy != 0) jump(context.canvas, moved(context.canvas.view(), dx, dy));
}

// Goes to the other end of a mark, or lists several ends.
void follow_stub(const GraphPaneContext& context, const StubSpot& spot) {
  const layout::Stub& stub = context.layout().stubs[spot.stub];
  const auto ends = ends_of(context, stub);
  if (ends.size() == 1) {
    const layout::Box& box = context.layout().boxes[ends.front().index];
    context.select(node_of(context.picture, box));
    fly(context.canvas, {static_cast<double>(box.rect.centre().x),
                         static_cast<double>(box.rect.centre().y), context.canvas.camera.zoom});
    return;
  }
  GraphMemory& memory = context.memory;
  memory.menu = true;
  memory.menu_at = ImGui::GetIO().MousePos;
  memory.menu_node = {};
  memory.menu_group = {};
  memory.menu_ends.clear();
  for (const layout::BoxId end : ends)
    memory.menu_ends.push_back(node_of(context.picture, context.layout().boxes[end.index]));
}

struct Under {
  layout::BoxId box;
  layout::GroupId frame;
  bool fold = false;  // on the +/- of a box or in the head of a frame
};

// True if the pointer is on the +/- in a frame's head.
bool on_head(const GraphPaneContext& context, layout::GroupId group, ImVec2 at) {
  for (const std::uint32_t b : context.memory.visible.bands) {
    const layout::Band& band = context.layout().bands[b];
    if (band.group != group) continue;
    for (const layout::Rect* side : {&band.forward, &band.backward}) {
      if (side->empty()) continue;
      const Rect frame = titled_part(context, *side);
      if (frame.empty()) continue;
      const float high = std::max(context.length(layout::kHeader), context.ui.px(12));
      const float wide = context.length(12 + 9 + 4);
      if (rect_at(frame.corner(), {wide, high}).contains(at)) return true;
    }
  }
  return false;
}

Under under(const GraphPaneContext& context, ImVec2 at) {
  Under found;
  const layout::Point p = context.view.under(at);
  found.box = layout::hit_box(context.layout(), p);
  if (found.box.valid()) {
    const layout::Box& box = context.layout().boxes[found.box.index];
    const bool left = p.x < box.rect.left + 24;
    found.fold = !box.node.valid() && context.names() && left;
    return found;
  }
  found.frame = layout::hit_group(context.layout(), p);
  found.fold = found.frame.valid() && on_head(context, found.frame, at);
  return found;
}

std::string key_of(const GraphPaneContext& context, layout::GroupId group) {
  return std::to_string(context.picture.scene->groups[group.index].key);
}

void click(const GraphPaneContext& context, const Under& found, bool doubled) {
  if (!found.box.valid()) {
    if (found.frame.valid() && (doubled || found.fold))
      context.intents.push_back({"graph.toggle", key_of(context, found.frame)});
    else if (context.subject.selection.node.valid() && !doubled && !found.frame.valid())
      context.intents.push_back({"select.clear", ""});
    return;
  }
  const layout::Box& box = context.layout().boxes[found.box.index];
  if (!box.node.valid() && (doubled || found.fold))
    return context.intents.push_back({"graph.toggle", key_of(context, box.group)});
  if (box.node.valid() && doubled)
    return fit_rect(context.canvas, box.rect.grown(layout::kPitch), kNear);
  context.select(node_of(context.picture, box));
}

void open_menu(const GraphPaneContext& context, const Under& found, ImVec2 at) {
  GraphMemory& memory = context.memory;
  memory.menu = true;
  memory.menu_at = at;
  memory.menu_ends.clear();
  memory.menu_node = {};
  memory.menu_group = found.frame;
  if (!found.box.valid()) return;
  const layout::Box& box = context.layout().boxes[found.box.index];
  memory.menu_group = box.group;
  memory.menu_node = box.node;
  if (box.node.valid()) context.select(box.node);
}

// Other panels show the hovered node.
void hover(const GraphPaneContext& context, const Under& found) {
  NodeId node;
  if (found.box.valid()) node = context.layout().boxes[found.box.index].node;
  context.hover(node);
}

}  // namespace

void answer_pointer(const GraphPaneContext& context, const WidgetResponse& touched) {
  GraphMemory& memory = context.memory;
  const ImVec2 at = ImGui::GetIO().MousePos;
  if (touched.hovered) wheel(context);
  pan(context, touched);
  if (!touched.hovered || memory.moved) {
    if (touched.hovered && !is_drag_button()) memory.moved = false;
    if (!touched.hovered && !memory.menu && memory.hovers) context.hover({});
    memory.hovers = false;
    return;
  }
  const Under found = under(context, at);
  hover(context, found);
  memory.hovers = true;
  if (found.fold) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  const StubSpot* spot = found.box.valid() ? nullptr : stub_at(context, at);
  if (spot != nullptr) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (touched.menu) return open_menu(context, found, at);
  if (touched.doubled) return click(context, found, true);
  if (!touched.pressed) return;
  memory.menu = false;
  if (spot != nullptr) return follow_stub(context, *spot);
  click(context, found, false);
}

}  // namespace recut::gui
