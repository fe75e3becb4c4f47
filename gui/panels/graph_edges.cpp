// Edges with a route: along a side, and rungs across the channel. First the strokes, then heads,
// then labels beside them.
#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/panels/graph_parts.h"

namespace recut::gui {
namespace {

using layout::Edge;
using layout::EdgeKind;

// The width of a line by its bytes, or by the bytes sent by the collective at its end: a bit less
// than half a pixel more for each factor of 16 from a KiB. Lines beside each other are four units
// apart.
float width_of(const GraphPaneContext& context, const Edge& edge) {
  const std::int64_t sent = sent_at(context, edge.to.index);
  const float width_class =
      sent == 0 ? static_cast<float>(edge.width_class)
                : std::clamp(std::log2(static_cast<float>(sent) / 1024) / 4 + 1, 0.0f, 7.0f);
  const float units = 1 + 0.4f * width_class;
  return std::max(1.0f, units * std::min(context.view.pixels(), context.ui.scale * 1.4f));
}

struct Stroke {
  Colour colour = 0;
  double opacity = 1;
};

// The stroke of a rung is invisible if its value is recomputed: again() draws a stub instead.
Stroke stroke_of(const GraphPaneContext& context, std::uint32_t index) {
  const Theme& theme = context.ui.theme;
  const Edge& edge = context.layout().edges[index];
  if (edge.kind != EdgeKind::saved && sent_at(context, edge.to.index) > 0)
    return {theme.differs, 0.9};
  if (edge.kind == EdgeKind::gradient) return {mix(theme.freed, theme.result, 0.45), 0.75};
  if (edge.kind != EdgeKind::saved) return {theme.freed, 0.85};
  const RungMarks& rung = context.marks.rungs[index];
  if (rung.saved > 0) return {theme.saved, 1};
  return {theme.faint, rung.again > 0 ? 0.0 : 0.55};
}

// Draws a rung's bytes at its entry to the channel, so that a value that is read twice has them
// once.
float entry_y(std::span<const layout::Point> route) {
  constexpr float kEdge = -layout::kChannel / 2 + 1;
  for (std::size_t i = 1; i < route.size(); ++i)
    if (route[i - 1].x <= kEdge && route[i].x > kEdge) return route[i].y;
  return route.front().y;
}

// Draws the stub of a recomputed value at its reader in backward, instead of a line across the
// channel.
void again(const GraphPaneContext& context, const Edge& edge) {
  std::uint8_t& drawn = context.memory.again[edge.to.index];
  if (drawn != 0) return;
  drawn = 1;
  const Ui& ui = context.ui;
  const Rect to = context.rect_of(edge.to.index);
  const float y = std::round(to.centre().y), from = to.left - context.length(34);
  const Colour violet = ui.theme.recomputed;
  const float radius = std::clamp(context.length(4), 1.5f, ui.px(4));
  context.ink.dashed_across(from + radius, to.left, y, Ui::paint(violet), std::max(1.0f, ui.px(1)),
                            context.length(4), context.length(3));
  ui.ring({from, y}, radius, violet, std::max(1.0f, ui.px(1.2f)));
}

class RungLabels {
 public:
  explicit RungLabels(const GraphPaneContext& context) : context_(context), ui_(context.ui) {
    for (const std::uint32_t index : context.memory.visible.edges) {
      const Edge& edge = context.layout().edges[index];
      if (edge.kind == EdgeKind::saved && stroke_of(context, index).opacity > 0) keep_off(edge);
    }
    for (const StubSpot& spot : context.memory.stubs) label_rects_.push_back(spot.rect);
  }

  void draw() {
    for (const std::uint32_t index : context_.memory.visible.edges) {
      const Edge& edge = context_.layout().edges[index];
      if (edge.kind != EdgeKind::saved) continue;
      const RungMarks& rung = context_.marks.rungs[index];
      if (rung.saved > 0)
        bytes(edge, format_bytes(rung.bytes));
      else if (rung.again > 0)
        again_text(edge);
    }
  }

 private:
  // Keeps labels off the rung's route.
  void keep_off(const Edge& edge) {
    const auto route = context_.layout().route(edge);
    const float half = width_of(context_, edge) / 2;
    for (std::size_t i = 1; i < route.size(); ++i) {
      const ImVec2 a = context_.view.at(route[i - 1]), b = context_.view.at(route[i]);
      lines_.push_back({std::min(a.x, b.x) - half, std::min(a.y, b.y) - half,
                        std::max(a.x, b.x) + half, std::max(a.y, b.y) + half});
    }
  }

  bool meets_any(const Rect& rect, const std::vector<Rect>& others) const {
    return std::any_of(others.begin(), others.end(),
                       [&](const Rect& other) { return rect.meets(other); });
  }

  // Above or below the line at the channel, clear of other lines; else on a background. Not over
  // other labels, nor a second time for a value that is read twice.
  void bytes(const Edge& edge, const std::string& text) {
    const float at = entry_y(context_.layout().route(edge));
    for (const auto& [box, y] : named_)
      if (box == edge.from.index && std::abs(y - at) < 12) return;
    const Ink::Type type{Face::mono_small, context_.type_size(), ui_.theme.saved};
    const float left = context_.view.x(-layout::kChannel / 2) + context_.length(3);
    const float wide = context_.ink.width(text, type) + 1, high = context_.length(13);
    const float away = width_of(context_, edge) / 2 + 1, y = context_.view.y(at);
    const Rect above{left, y - away - high, left + wide, y - away};
    const Rect below{left, y + away, left + wide, y + away + high};
    const Rect* rect = nullptr;
    for (const Rect* one : {&above, &below})
      if (rect == nullptr && !meets_any(*one, lines_) && !meets_any(*one, label_rects_)) rect = one;
    if (rect == nullptr) {
      if (meets_any(above, label_rects_)) return;
      rect = &above;
      ui_.fill(above, ui_.theme.background, ui_.px(2), 0.85);
    }
    named_.emplace_back(edge.from.index, at);
    label_rects_.push_back(*rect);
    context_.ink.text(*rect, text, type);
  }

  // Draws the label left of the stub's ring.
  void again_text(const Edge& edge) {
    const Rect to = context_.rect_of(edge.to.index);
    const float y = std::round(to.centre().y), high = context_.length(13) / 2;
    const Ink::Type type{Face::small, context_.type_size(), ui_.theme.recomputed};
    const float right = to.left - context_.length(34 + 4 + 5);
    const Rect rect{right - context_.ink.width("again", type) - 1, y - high, right, y + high};
    if (meets_any(rect, label_rects_)) return;
    if (meets_any(rect, lines_)) ui_.fill(rect, ui_.theme.background, ui_.px(2), 0.85);
    label_rects_.push_back(rect);
    context_.ink.text(rect, "again", type, Align::right);
  }

  const GraphPaneContext& context_;
  const Ui& ui_;
  std::vector<Rect> lines_, label_rects_;
  std::vector<std::pair<std::uint32_t, float>> named_;  // box, height in the layout
};

void stroke(const GraphPaneContext& context, std::uint32_t index, const Stroke& how, float more) {
  const Edge& edge = context.layout().edges[index];
  const auto route = context.layout().route(edge);
  constexpr std::size_t kMax = 32;
  ImVec2 points[kMax];
  const std::size_t count = std::min(kMax, route.size());
  for (std::size_t i = 0; i < count; ++i) points[i] = context.view.at(route[i]);
  const float width = width_of(context, edge) + more;
  const float bend = context.names() ? context.length(7) : 0;
  context.ink.polyline({points, count},
                       Ui::paint(how.colour, how.opacity * static_cast<double>(context.arrived)),
                       width, bend);
}

// An arrowhead at its end.
void head(const GraphPaneContext& context, std::uint32_t index, const Stroke& how) {
  const Edge& edge = context.layout().edges[index];
  const auto route = context.layout().route(edge);
  if (route.size() < 2) return;
  const ImVec2 tip = context.view.at(route.back()),
               before = context.view.at(route[route.size() - 2]);
  const float length = std::hypot(tip.x - before.x, tip.y - before.y);
  if (length <= 0) return;
  const float size = std::clamp(context.length(6), context.ui.px(3.5f), context.ui.px(8));
  const float wide = std::max(size * 0.5f, width_of(context, edge) * 0.5f + 1);
  const ImVec2 along{(tip.x - before.x) / length, (tip.y - before.y) / length};
  const ImVec2 base{tip.x - along.x * size, tip.y - along.y * size};
  ImGui::GetWindowDrawList()->AddTriangleFilled(
      tip, {base.x - along.y * wide, base.y + along.x * wide},
      {base.x + along.y * wide, base.y - along.x * wide},
      Ui::paint(how.colour,
                std::min(1.0, how.opacity + 0.15) * static_cast<double>(context.arrived)));
}

}  // namespace

void draw_routes(const GraphPaneContext& context) {
  context.memory.again.assign(context.layout().boxes.size(), 0);
  for (const std::uint32_t index : context.memory.visible.edges) {
    const Stroke how = stroke_of(context, index);
    if (how.opacity > 0) {
      stroke(context, index, how, 0);
    } else if (context.view.zoom() > 0.2f) {
      again(context, context.layout().edges[index]);
    }
  }
  if (context.names())
    for (const std::uint32_t index : context.memory.visible.edges)
      if (const Stroke how = stroke_of(context, index); how.opacity > 0) head(context, index, how);
}

void draw_rung_text(const GraphPaneContext& context) {
  if (context.details()) RungLabels(context).draw();
}

// Edges of the selected box stand out; for those without a route, a thread leads to the other end.
void draw_edges_of_selection(const GraphPaneContext& context) {
  const NodeId node = context.subject.selection.node;
  const layout::BoxId box = node.valid() ? context.picture.box(node) : layout::BoxId();
  if (!box.valid()) return;
  const Theme& theme = context.ui.theme;
  constexpr std::size_t kMaxThreads = 16;
  std::size_t threads = 0;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (const std::uint32_t index : context.picture.edges_of(box)) {
    const Edge& edge = context.layout().edges[index];
    if (edge.points > 0) {
      stroke(context, index, {theme.selection, 0.9}, context.ui.px(0.5f));
      if (context.names()) head(context, index, {theme.selection, 0.9});
      continue;
    }
    if (++threads > kMaxThreads) continue;
    const ImVec2 a = context.rect_of(edge.from.index).centre();
    const ImVec2 b = context.rect_of(edge.to.index).centre();
    const float out = (edge.kind == EdgeKind::flow ? -1.0f : 1.0f) * context.length(70);
    const float bow = edge.kind == EdgeKind::saved || edge.kind == EdgeKind::parameter ? 0 : out;
    list.AddBezierCubic(a, {a.x + bow, a.y}, {b.x + bow, b.y}, b, Ui::paint(theme.selection, 0.35),
                        context.ui.px(1), 24);
  }
}

}  // namespace recut::gui
