#include "gui/canvas/canvas.h"

#include <cmath>

#include "gui/canvas/framing.h"

namespace recut::gui {
namespace {

using layout::GroupId;

constexpr double kFirstZoom = 0.85;  // at which names and bytes are read
constexpr double kSeen = 0.5;        // zoom at which a selection is worth bringing into view

}  // namespace

Canvas& canvas_of(PanelMemory& memories, Pane pane) {
  auto& canvas =
      memory_of<std::shared_ptr<Canvas>>(memories, pane == Pane::here ? kCanvasHere : kCanvasThere);
  if (!canvas) canvas = std::make_shared<Canvas>();
  return *canvas;
}

PictureKey requested_key(const ShownGraph& shown, const Canvas& canvas) {
  return {shown.document.get(), shown.pass, canvas.focus, canvas.expansion_changes};
}

void take_picture(Canvas& canvas, SharedPicture picture) {
  if (!canvas.expansion && !picture->focus.node.valid()) canvas.expansion = picture->expansion;
  const layout::Point shift = picture->layout.anchor_shift;
  canvas.shift = shift;
  for (Camera* camera : {&canvas.camera, &canvas.flight_from, &canvas.at}) {
    camera->x -= static_cast<double>(shift.x);
    camera->y -= static_cast<double>(shift.y);
  }
  const Focus before = canvas.picture != nullptr ? canvas.picture->focus : Focus();
  canvas.wants_framing = picture->focus.node.valid() && !(picture->focus == before);
  canvas.former = canvas.picture;
  canvas.picture = std::move(picture);
  canvas.anchor = {};
  ++canvas.pictures;
}

bool reveal_node(Canvas& canvas, NodeId node) {
  if (canvas.picture == nullptr || !canvas.expansion || !node.valid()) return false;
  const Picture& picture = *canvas.picture;
  if (picture.whole->find(node) == layout::Scene::kNone) return false;
  if (canvas.focus.node.valid() && picture.scene->find(node) == layout::Scene::kNone) {
    canvas.focus.node = node;
    return true;
  }
  if (picture.own_box(node).valid()) return false;
  layout::reveal(*picture.whole, node, *canvas.expansion);
  ++canvas.expansion_changes;
  canvas.anchor = node;
  return true;
}

void set_open(Canvas& canvas, const layout::Group& group, bool open) {
  if (!canvas.expansion) return;
  canvas.expansion->set(group, open);
  ++canvas.expansion_changes;
  if (canvas.picture != nullptr && group.nodes > 0) {
    const layout::Scene& scene = *canvas.picture->whole;
    canvas.anchor = scene.nodes[scene.nodes_of(group).front()].node;
  }
}

void put(Canvas& canvas, const Camera& at) {
  canvas.camera = canvas.flight_from = canvas.at = at;
  canvas.placed = true;
  canvas.fitted = false;
}

void jump(Canvas& canvas, const Camera& to) {
  put(canvas, to);
  ++canvas.moves;
}

void fly(Canvas& canvas, const Camera& to) {
  canvas.flight_from = canvas.at;
  canvas.camera = to;
  ++canvas.flights;
  ++canvas.moves;
  canvas.placed = true;
  canvas.fitted = false;
}

void fit_rect(Canvas& canvas, const layout::Rect& rect, double most) {
  fly(canvas, fit(rect, canvas.area, canvas.scale, most));
}

void fit_all(Canvas& canvas) {
  if (canvas.picture == nullptr) return;
  fit_rect(canvas, canvas.picture->layout.bounds, 1);
  canvas.fitted = true;
}

void bring_into_view(Canvas& canvas, const layout::Rect& rect) {
  const View goal = canvas.view_from(canvas.camera);
  const float margin = 24 * canvas.scale;
  // Framed columns may be near the edge; they don't move.
  const Rect there = goal.at(rect), inside = canvas.area.inset(margin / 3, margin * 1.5f);
  const bool in = there.left >= inside.left && there.right <= inside.right &&
                  there.top >= inside.top && there.bottom <= inside.bottom;
  if (in && goal.camera().zoom >= kSeen) return;
  const layout::Point centre = rect.centre();
  Camera to{static_cast<double>(centre.x), static_cast<double>(centre.y), canvas.camera.zoom};
  if (to.zoom < kSeen) to.zoom = kFirstZoom;
  // The camera moves sideways only if it must, so that the eye keeps the column.
  const bool across = there.left >= inside.left && there.right <= inside.right;
  if (across && to.zoom == canvas.camera.zoom) to.x = canvas.camera.x;
  fly(canvas, to);
}

void fit_columns(Canvas& canvas) {
  constexpr float kSlimMap = 32;  // units beside them
  Camera camera = columns_camera(canvas.area, canvas.scale, reach_of_columns(*canvas.picture),
                                 kSlimMap, View::kNamed, 1);
  if (canvas.camera.zoom <= camera.zoom) return;
  const View goal(canvas.area, canvas.camera, canvas.scale);
  const ImVec2 top{canvas.area.centre().x, canvas.area.top};
  camera.y = zoomed(goal, top, canvas.scale, camera.zoom).y;
  jump(canvas, camera);
}

void place_camera(Canvas& canvas) {
  jump(canvas, first_camera(*canvas.picture, canvas.area, canvas.scale));
}

void frame_focus(Canvas& canvas) {
  canvas.wants_framing = false;
  fly(canvas, focus_camera(*canvas.picture, canvas.area, canvas.scale));
}

GroupId group_around(const Picture& picture, NodeId node) {
  const layout::BoxId id = picture.box(node);
  return id.valid() ? picture.layout.boxes[id.index].group : GroupId();
}

layout::Rect bounds_of(const Picture& picture, GroupId group) {
  for (const layout::Band& band : picture.layout.bands)
    if (band.group == group) return band.bounds;
  layout::Rect bounds;
  for (const layout::Box& box : picture.layout.boxes)
    if (!box.node.valid() && box.group == group) bounds = bounds.united(box.rect);
  return bounds;
}

}  // namespace recut::gui
