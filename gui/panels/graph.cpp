// The graph: forward down the left, backward beside it, saved values between them. A job makes the
// layout; the panel draws its visible part.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gui/app/panes_view.h"
#include "gui/canvas/saved_view.h"
#include "gui/panels/graph_parts.h"

namespace recut::gui {

float GraphPaneContext::type_size() const {
  // Letters keep their size from there on, and boxes grow instead.
  constexpr float kFull = 0.85f;
  return std::min(1.0f, view.zoom() / kFull);
}

int GraphPaneContext::lines() const {
  const float spare = layout::kBoxHeight * view.zoom() - 26;
  return spare < 13 ? 0 : std::min(8, static_cast<int>(spare / 15));
}

Rect GraphPaneContext::rect_of(std::uint32_t index) const {
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
  const auto interpolate = [&](float a, float b) { return a + (b - a) * arrived; };
  return {interpolate(from.left, to.left), interpolate(from.top, to.top),
          interpolate(from.right, to.right), interpolate(from.bottom, to.bottom)};
}

void GraphPaneContext::select(NodeId node) const {
  if (!node.valid() || node == subject.selection.node || !can_tell()) return;
  canvas.own = node;
  intents.push_back(
      {is_here() ? "select.node" : "compare.select", picture.graph().node_name(node)});
}

void GraphPaneContext::hover(NodeId node) const {
  if (node == subject.selection.hovered || !can_tell()) return;
  intents.push_back({is_here() ? "select.hover" : "compare.hover",
                     node.valid() ? picture.graph().node_name(node) : std::string()});
}

namespace {

std::string word_of(Pane pane) { return pane == Pane::here ? "here" : "there"; }

// Starts the job that makes the requested picture, if it is neither done nor at work.
void want_picture(const PanelInput& input, const PaneFrame& pane, Intents& intents) {
  const Canvas& canvas = pane.canvas;
  const PictureKey requested = requested_key(pane.subject.shown, canvas);
  if (canvas.picture != nullptr && requested == canvas.key) return;
  const bool at_work = canvas.job != 0 && requested == canvas.key_at_work;
  if (at_work && input.app.jobs.is_alive(canvas.job)) return;
  // A job that ended has posted its picture; one that was stopped isn't begun again by itself.
  if (!at_work) intents.push_back({"graph.lay_out", word_of(pane.subject.pane)});
}

// The run of the plan shown here; null unless the graph is coloured by measured time.
SharedRun run_of(const PanelInput& input, const PaneFrame& pane) {
  if (!input.app.settings.flag("graph.times", false)) return nullptr;
  SharedRun run = shown_run(pane.document);
  return run != nullptr && run->of->plan == pane.subject.shown.plan ? run : nullptr;
}

void want_marks(const Subject& subject, const SharedRun& run, Canvas& canvas) {
  const bool same_picture = canvas.marks_picture == canvas.pictures;
  if (canvas.marks && same_picture && canvas.marks_plan == subject.shown.plan &&
      canvas.marks_run == run)
    return;
  canvas.marks = std::make_shared<const PlanMarks>(
      marks_of(*canvas.picture, subject.shown.plan.get(), run.get()));
  canvas.marks_run = run;
  canvas.marks_picture = canvas.pictures;
  canvas.marks_plan = subject.shown.plan;
  ++canvas.marks_made;
}

// Starts the comparison of the graph that the picture shows; while another one is laid out, the old
// picture has none.
void want_differences(const Subject& subject, Canvas& canvas) {
  const ComparedSide* side = subject.side();
  const Picture& picture = *canvas.picture;
  if (side == nullptr || side->shown.document != picture.document ||
      side->shown.pass != picture.pass) {
    canvas.differences = nullptr;
    canvas.differences_of = nullptr;
    return;
  }
  if (canvas.differences_of == subject.comparison && canvas.differences_picture == canvas.pictures)
    return;
  canvas.differences = std::make_shared<const DifferenceMarks>(differences_of(picture, *side));
  canvas.differences_of = subject.comparison;
  canvas.differences_picture = canvas.pictures;
  ++canvas.marks_made;
}

// Other panels select, too: the selection is brought into view, out of closed groups.
void watch_selection(const PaneFrame& pane, Intents& intents) {
  Canvas& canvas = pane.canvas;
  const NodeId node = pane.subject.selection.node;
  if (canvas.restored) canvas.seen = node;  // the camera was left there with it
  canvas.restored = false;
  if (node != canvas.seen) {
    canvas.seen = node;
    const bool own = node == canvas.own;
    canvas.own = {};
    canvas.wants_visible = node.valid() && !own && !pane.follows;
    if (node.valid() && !own && pane.reveals)
      intents.push_back({"graph.reveal", word_of(pane.subject.pane)});
  }
  if (!canvas.wants_visible || !(canvas.key == requested_key(pane.subject.shown, canvas))) return;
  const layout::BoxId box = canvas.picture->box(node);
  if (box.valid()) bring_into_view(canvas, canvas.picture->layout.boxes[box.index].rect);
  canvas.wants_visible = false;
}

void move_camera(const PanelInput& input, const PaneFrame& pane) {
  Canvas& canvas = pane.canvas;
  const double share = canvas.flight.of(
      input.motion,
      fmt::format("graph flight {} {}", pane.document.serial, word_of(pane.subject.pane)),
      canvas.flights);
  canvas.at = between(canvas.flight_from, canvas.camera, share);
}

// Draws a remark while a new picture is laid out and the old one stays.
void draw_layout_text(Ui& ui, const PanelInput& input, const Canvas& canvas) {
  const std::string text = layout_text(input.app, canvas);
  if (text.empty()) return;
  const float wide = ui.width(text, Face::text) + ui.px(28), high = ui.px(28);
  const ImVec2 middle{canvas.area.centre().x, canvas.area.top + ui.px(30)};
  const Rect box = rect_around(middle, wide, high);
  ui.fill(box, ui.theme.raised, ui.px(kRadius));
  ui.frame(box, ui.theme.line, ui.px(kRadius));
  ui.text(box, text, Face::text, ui.theme.text, Align::centre);
  ui.items.add("laying out", ItemKind::figure, box, true, text);
}

// Boxes of the search's matches, or of the closed groups around them, sorted.
void find_matches(const PaneFrame& pane) {
  const Search& search = pane.document.search;
  GraphMemory& memory = pane.memory;
  const SharedComparison& comparison = pane.subject.comparison;
  if (memory.matched_picture == pane.canvas.pictures && memory.matched_found == search.found &&
      memory.matched_by == comparison)
    return;
  memory.matched_picture = pane.canvas.pictures;
  memory.matched_found = search.found;
  memory.matched_by = comparison;
  memory.matched.clear();
  if (!search.found || search.text.empty()) return;
  const bool here = pane.subject.pane == Pane::here;
  for (NodeId node : *search.found) {
    if (!here) node = comparison ? comparison->here.partner(node) : NodeId();
    const layout::BoxId box = node.valid() ? pane.canvas.picture->box(node) : layout::BoxId();
    if (box.valid()) memory.matched.push_back(box.index);
  }
  std::sort(memory.matched.begin(), memory.matched.end());
  memory.matched.erase(std::unique(memory.matched.begin(), memory.matched.end()),
                       memory.matched.end());
}

void draw_canvas(const GraphPaneContext& context) {
  Ui& ui = context.ui;
  const Rect& area = context.view.area();
  // If boxes can't be told apart, groups up to the height of a few lines stand for them.
  const float block = ui.px(context.is_overview() ? 110 : 9);
  layout::look(context.layout(), context.view.visible(), context.view.pixels(),
               context.memory.visible, block);
  const WidgetResponse touched = interact(ui, "canvas", ItemKind::handle, area);
  answer_pointer(context, touched);
  ImGui::PushClipRect(area.corner(), {area.right, area.bottom}, true);
  draw_frames(context);
  draw_routes(context);
  draw_stubs(context);
  draw_rung_text(context);
  draw_edges_of_selection(context);
  draw_titles(context);
  draw_boxes(context);
  draw_selection(context);
  draw_differences(context);
  draw_flow(context);
  draw_sides(context);
  draw_minimap(context);
  draw_placement_legend(context);
  draw_footer(context);
  if (touched.hovered && !ui.items.keys_lead) draw_tooltip(context);
  ImGui::PopClipRect();
  draw_menu(context);
}

void draw_graph(Ui& ui, const PanelInput& input, Intents& intents) {
  Rect area = input.whole;
  area.cut_top(input.heading.height());
  ui.fill(area, ui.theme.background);
  const DocumentView* document = input.ready();
  if (document == nullptr || area.width() < 8 || area.height() < 8) return;
  if (has_panes(*document)) return draw_panes(ui, input, *document, area, intents);
  const Subject subject{Pane::here, shown_graph(*document), document->selection,
                        &document->plan_settings.overrides};
  const PaneFrame pane{*document, subject, canvas_of(input.memories),
                       input.memory<GraphMemory>("graph")};
  pane.canvas.area = area;
  pane.canvas.scale = ui.scale;
  if (prepare_pane(input, pane, intents))
    draw_pane(ui, input, pane, intents);
  else
    ui.text(area, layout_text(input.app, pane.canvas), Face::text, ui.theme.dim, Align::centre);
}

}  // namespace

bool prepare_pane(const PanelInput& input, const PaneFrame& pane, Intents& intents) {
  Canvas& canvas = pane.canvas;
  SavedView* saved =
      pane.subject.pane == Pane::here ? &input.memory<SavedView>(kSavedView) : nullptr;
  if (saved != nullptr && canvas.pictures == 0 && !canvas.placed) restore_view(canvas, *saved);
  want_picture(input, pane, intents);
  if (canvas.picture == nullptr || canvas.picture->document != pane.subject.shown.document)
    return false;
  if (!canvas.placed || canvas.restored) begin_view(canvas);
  if (canvas.wants_framing && !pane.follows) frame_focus(canvas);
  canvas.wants_framing = false;
  want_marks(pane.subject, run_of(input, pane), canvas);
  want_differences(pane.subject, canvas);
  watch_selection(pane, intents);
  move_camera(input, pane);
  if (saved != nullptr) remember_view(canvas, *saved);
  find_matches(pane);
  return true;
}

void draw_pane(Ui& ui, const PanelInput& input, const PaneFrame& pane, Intents& intents) {
  const Canvas& canvas = pane.canvas;
  const auto arrived = static_cast<float>(pane.canvas.arrival.of(
      input.motion,
      fmt::format("graph arrival {} {}", pane.document.serial, word_of(pane.subject.pane)),
      canvas.pictures));
  const GraphPaneContext context{
      ui,      input,           pane.document, pane.subject,  pane.canvas, pane.memory,
      intents, *canvas.picture, *canvas.marks, canvas.view(), Ink(ui),     arrived};
  if (canvas.picture->scene->nodes.empty())
    ui.text(canvas.area, "The graph is empty", Face::text, ui.theme.faint, Align::centre);
  else
    draw_canvas(context);
  draw_layout_text(ui, input, canvas);
  if (context.is_here()) draw_heading(context);
}

Panel graph_panel() { return {"graph", "Graph", Dock::centre, 0, 1, draw_graph}; }

}  // namespace recut::gui
