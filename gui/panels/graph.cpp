// The graph: forward down the left, backward beside it, what is saved between them. The layout is
// made by a job; this looks at what of it can be seen, and draws that.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gui/canvas/saved_view.h"
#include "gui/panels/graph_parts.h"

namespace recut::gui {

float Stage::type_size() const {
  // Letters keep their size from there on, and what is shown grows instead.
  constexpr float kFull = 0.85f;
  return std::min(1.0f, view.zoom() / kFull);
}

int Stage::lines() const {
  const float spare = layout::kBoxHeight * view.zoom() - 26;
  return spare < 13 ? 0 : std::min(8, static_cast<int>(spare / 15));
}

Rect Stage::rect_of(std::uint32_t index) const {
  const layout::Box& box = layout().boxes[index];
  const Rect to = view.at(box.rect);
  const Picture* former = canvas.former.get();
  if (arrived >= 1 || former == nullptr || former->document != picture.document) return to;
  NodeId node = box.node;
  if (!node.valid()) return to;
  const layout::BoxId before = former->box(node);
  if (!before.valid()) return to;
  const layout::Rect was = former->layout.boxes[before.index].rect;
  const Rect from = view.at(was.moved(-canvas.shift.x, -canvas.shift.y));
  const auto way = [&](float a, float b) { return a + (b - a) * arrived; };
  return {way(from.left, to.left), way(from.top, to.top), way(from.right, to.right),
          way(from.bottom, to.bottom)};
}

namespace {

// Has the picture made that is wanted, where it is neither there nor at work.
void want_picture(const PanelInput& input, const DocumentView& document, Canvas& canvas,
                  Intents& intents) {
  const PictureKey wanted = wanted_key(document, canvas);
  if (canvas.picture != nullptr && wanted == canvas.key) return;
  const bool at_work = canvas.job != 0 && wanted == canvas.key_at_work;
  if (at_work && input.app.jobs.is_alive(canvas.job)) return;
  // A job that ended has posted its picture; one that was stopped isn't begun again by itself.
  if (!at_work) intents.push_back({"graph.lay_out", ""});
}

void want_marks(const DocumentView& document, Canvas& canvas) {
  if (canvas.marks && canvas.marks_picture == canvas.pictures &&
      canvas.marks_plan == document.shown)
    return;
  canvas.marks = std::make_shared<const PlanMarks>(marks_of(*canvas.picture, document.shown.get()));
  canvas.marks_picture = canvas.pictures;
  canvas.marks_plan = document.shown;
  ++canvas.marks_made;
}

// Other panels select, too: what is selected is brought into view, out of closed groups.
void watch_selection(const DocumentView& document, Canvas& canvas, Intents& intents) {
  const NodeId node = document.selection.node;
  if (canvas.restored) canvas.seen = node;  // the camera was left there with it
  canvas.restored = false;
  if (node != canvas.seen) {
    canvas.seen = node;
    const bool own = node == canvas.own;
    canvas.own = {};
    canvas.wants_visible = node.valid() && !own;
    if (canvas.wants_visible) intents.push_back({"graph.reveal", ""});
  }
  if (!canvas.wants_visible || !(canvas.key == wanted_key(document, canvas))) return;
  const layout::BoxId box = canvas.picture->box(node);
  if (box.valid()) bring_into_view(canvas, canvas.picture->layout.boxes[box.index].rect);
  canvas.wants_visible = false;
}

void move_camera(const PanelInput& input, int serial, Canvas& canvas) {
  const double share =
      canvas.flight.of(input.motion, fmt::format("graph flight {}", serial), canvas.flights);
  canvas.at = between(canvas.flight_from, canvas.camera, share);
}

// Boxes that the search found, sorted.
void find_matches(const DocumentView& document, const Canvas& canvas, GraphMemory& memory) {
  const Search& search = document.search;
  if (memory.matched_picture == canvas.pictures && memory.matched_found == search.found) return;
  memory.matched_picture = canvas.pictures;
  memory.matched_found = search.found;
  memory.matched.clear();
  if (!search.found || search.text.empty()) return;
  for (const NodeId node : *search.found)
    if (const layout::BoxId box = canvas.picture->box(node); box.valid())
      memory.matched.push_back(box.index);
  std::sort(memory.matched.begin(), memory.matched.end());
  memory.matched.erase(std::unique(memory.matched.begin(), memory.matched.end()),
                       memory.matched.end());
}

void draw_canvas(const Stage& stage) {
  Ui& ui = stage.ui;
  const Rect& area = stage.view.area();
  // Where boxes can't be told apart, groups up to the height of a few lines stand for them.
  const float block = ui.px(stage.is_overview() ? 110 : 9);
  layout::look(stage.layout(), stage.view.visible(), stage.view.pixels(), stage.memory.visible,
               block);
  const Touch touched = touch(ui, "canvas", ItemKind::handle, area);
  answer_pointer(stage, touched);
  ImGui::PushClipRect(area.corner(), {area.right, area.bottom}, true);
  draw_frames(stage);
  draw_routes(stage);
  draw_stubs(stage);
  draw_edges_of_selection(stage);
  draw_boxes(stage);
  draw_selection(stage);
  draw_sides(stage);
  draw_minimap(stage);
  draw_footer(stage);
  if (touched.hovered) draw_card(stage);
  ImGui::PopClipRect();
  draw_menu(stage);
}

void draw(Ui& ui, const PanelInput& input, Intents& intents) {
  Rect area = input.whole;
  area.cut_top(input.heading.height());
  ui.fill(area, ui.theme.background);
  const DocumentView* document = input.ready();
  if (document == nullptr || area.width() < 8 || area.height() < 8) return;
  Canvas& canvas = canvas_of(input.memories);
  canvas.area = area;
  canvas.scale = ui.scale;
  if (canvas.pictures == 0 && !canvas.placed)
    restore_view(canvas, input.memory<SavedView>(kSavedView));
  want_picture(input, *document, canvas, intents);
  if (canvas.picture == nullptr || canvas.picture->document != document->document) {
    ui.text(area, "Laying out …", Face::text, ui.theme.faint, Align::centre);
    return;
  }
  if (!canvas.placed || canvas.restored) begin_view(canvas);
  want_marks(*document, canvas);
  watch_selection(*document, canvas, intents);
  move_camera(input, document->serial, canvas);
  remember_view(canvas, input.memory<SavedView>(kSavedView));
  auto& memory = input.memory<GraphMemory>("graph");
  find_matches(*document, canvas, memory);
  const auto arrived = static_cast<float>(canvas.arrival.of(
      input.motion, fmt::format("graph arrival {}", document->serial), canvas.pictures));
  const Stage stage{ui,      input,           *document,     canvas,        memory,
                    intents, *canvas.picture, *canvas.marks, canvas.view(), Ink(ui),
                    arrived};
  if (canvas.picture->scene->nodes.empty())
    ui.text(area, "The graph is empty", Face::text, ui.theme.faint, Align::centre);
  else
    draw_canvas(stage);
  draw_heading(stage);
}

}  // namespace

Panel graph_panel() { return {"graph", "Graph", Place::centre, 0, 1, draw}; }

}  // namespace recut::gui
