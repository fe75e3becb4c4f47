// Edges with a route: along a side, and rungs across the channel. First the strokes, then heads,
// then words beside them.
#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/panels/graph_parts.h"

namespace recut::gui {
namespace {

using layout::Edge;
using layout::EdgeKind;

// As wide as their bytes: a bit less than half a pixel more for each factor of 16 from a KiB. Lines
// beside each other are four units apart.
float width_of(const Stage& stage, const Edge& edge) {
  const float units = 1 + 0.4f * static_cast<float>(edge.width_class);
  return std::max(1.0f, units * std::min(stage.view.pixels(), stage.ui.scale * 1.4f));
}

struct Stroke {
  Colour colour = 0;
  double opacity = 1;
};

// None of it drawn where the value runs again: see again().
Stroke stroke_of(const Stage& stage, std::uint32_t index) {
  const Theme& theme = stage.ui.theme;
  const Edge& edge = stage.layout().edges[index];
  if (edge.kind == EdgeKind::gradient) return {mix(theme.freed, theme.result, 0.45), 0.75};
  if (edge.kind != EdgeKind::saved) return {theme.freed, 0.85};
  const RungMarks& rung = stage.marks.rungs[index];
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

// A value that is computed again has no line across: where it is read stands that it is.
void again(const Stage& stage, const Edge& edge) {
  std::uint8_t& drawn = stage.memory.again[edge.to.index];
  if (drawn != 0) return;
  drawn = 1;
  const Ui& ui = stage.ui;
  const Rect to = stage.rect_of(edge.to.index);
  const float y = std::round(to.centre().y), from = to.left - stage.length(34);
  const Colour violet = ui.theme.recomputed;
  const float radius = std::clamp(stage.length(4), 1.5f, ui.px(4));
  stage.ink.dashed_across(from + radius, to.left, y, Ui::paint(violet), std::max(1.0f, ui.px(1)),
                          stage.length(4), stage.length(3));
  ui.ring({from, y}, radius, violet, std::max(1.0f, ui.px(1.2f)));
}

class RungLabels {
 public:
  explicit RungLabels(const Stage& stage) : stage_(stage), ui_(stage.ui) {
    for (const std::uint32_t index : stage.memory.visible.edges) {
      const Edge& edge = stage.layout().edges[index];
      if (edge.kind == EdgeKind::saved && stroke_of(stage, index).opacity > 0) keep_off(edge);
    }
    for (const StubSpot& spot : stage.memory.stubs) words_.push_back(spot.rect);
  }

  void draw() {
    for (const std::uint32_t index : stage_.memory.visible.edges) {
      const Edge& edge = stage_.layout().edges[index];
      if (edge.kind != EdgeKind::saved) continue;
      const RungMarks& rung = stage_.marks.rungs[index];
      if (rung.saved > 0)
        bytes(edge, format_bytes(rung.bytes));
      else if (rung.again > 0)
        again_words(edge);
    }
  }

 private:
  // Its pieces in the channel, in pixels.
  void keep_off(const Edge& edge) {
    const auto route = stage_.layout().route(edge);
    const float half = width_of(stage_, edge) / 2;
    for (std::size_t i = 1; i < route.size(); ++i) {
      const ImVec2 a = stage_.view.at(route[i - 1]), b = stage_.view.at(route[i]);
      lines_.push_back({std::min(a.x, b.x) - half, std::min(a.y, b.y) - half,
                        std::max(a.x, b.x) + half, std::max(a.y, b.y) + half});
    }
  }

  bool meets_any(const Rect& rect, const std::vector<Rect>& others) const {
    return std::any_of(others.begin(), others.end(),
                       [&](const Rect& other) { return rect.meets(other); });
  }

  // Above the line where it enters the channel, or below it: where no other line is; else on a
  // ground. Not where other words stand, nor a second time for a value that is read twice.
  void bytes(const Edge& edge, const std::string& words) {
    const float at = entry_y(stage_.layout().route(edge));
    for (const auto& [box, y] : named_)
      if (box == edge.from.index && std::abs(y - at) < 12) return;
    const Ink::Type type{Face::mono_small, stage_.type_size(), ui_.theme.saved};
    const float left = stage_.view.x(-layout::kChannel / 2) + stage_.length(3);
    const float wide = stage_.ink.width(words, type) + 1, high = stage_.length(13);
    const float away = width_of(stage_, edge) / 2 + 1, y = stage_.view.y(at);
    const Rect above{left, y - away - high, left + wide, y - away};
    const Rect below{left, y + away, left + wide, y + away + high};
    const Rect* place = nullptr;
    for (const Rect* one : {&above, &below})
      if (place == nullptr && !meets_any(*one, lines_) && !meets_any(*one, words_)) place = one;
    if (place == nullptr) {
      if (meets_any(above, words_)) return;
      place = &above;
      ui_.fill(above, ui_.theme.background, ui_.px(2), 0.85);
    }
    named_.emplace_back(edge.from.index, at);
    words_.push_back(*place);
    stage_.ink.text(*place, words, type);
  }

  // Left of the ring at the box that reads the value.
  void again_words(const Edge& edge) {
    const Rect to = stage_.rect_of(edge.to.index);
    const float y = std::round(to.centre().y), high = stage_.length(13) / 2;
    const Ink::Type type{Face::small, stage_.type_size(), ui_.theme.recomputed};
    const float right = to.left - stage_.length(34 + 4 + 5);
    const Rect place{right - stage_.ink.width("again", type) - 1, y - high, right, y + high};
    if (meets_any(place, words_)) return;
    if (meets_any(place, lines_)) ui_.fill(place, ui_.theme.background, ui_.px(2), 0.85);
    words_.push_back(place);
    stage_.ink.text(place, "again", type, Align::right);
  }

  const Stage& stage_;
  const Ui& ui_;
  std::vector<Rect> lines_, words_;
  std::vector<std::pair<std::uint32_t, float>> named_;  // box, height in the layout
};

void stroke(const Stage& stage, std::uint32_t index, const Stroke& how, float more) {
  const Edge& edge = stage.layout().edges[index];
  const auto route = stage.layout().route(edge);
  constexpr std::size_t kMost = 32;
  ImVec2 points[kMost];
  const std::size_t count = std::min(kMost, route.size());
  for (std::size_t i = 0; i < count; ++i) points[i] = stage.view.at(route[i]);
  const float width = width_of(stage, edge) + more;
  const float bend = stage.names() ? stage.length(7) : 0;
  stage.ink.polyline({points, count},
                     Ui::paint(how.colour, how.opacity * static_cast<double>(stage.arrived)), width,
                     bend);
}

// An arrowhead at its end.
void head(const Stage& stage, std::uint32_t index, const Stroke& how) {
  const Edge& edge = stage.layout().edges[index];
  const auto route = stage.layout().route(edge);
  if (route.size() < 2) return;
  const ImVec2 tip = stage.view.at(route.back()), before = stage.view.at(route[route.size() - 2]);
  const float way = std::hypot(tip.x - before.x, tip.y - before.y);
  if (way <= 0) return;
  const float size = std::clamp(stage.length(6), stage.ui.px(3.5f), stage.ui.px(8));
  const float wide = std::max(size * 0.5f, width_of(stage, edge) * 0.5f + 1);
  const ImVec2 along{(tip.x - before.x) / way, (tip.y - before.y) / way};
  const ImVec2 base{tip.x - along.x * size, tip.y - along.y * size};
  ImGui::GetWindowDrawList()->AddTriangleFilled(
      tip, {base.x - along.y * wide, base.y + along.x * wide},
      {base.x + along.y * wide, base.y - along.x * wide},
      Ui::paint(how.colour,
                std::min(1.0, how.opacity + 0.15) * static_cast<double>(stage.arrived)));
}

}  // namespace

void draw_routes(const Stage& stage) {
  stage.memory.again.assign(stage.layout().boxes.size(), 0);
  for (const std::uint32_t index : stage.memory.visible.edges) {
    const Stroke how = stroke_of(stage, index);
    if (how.opacity > 0) {
      stroke(stage, index, how, 0);
    } else if (stage.view.zoom() > 0.2f) {
      again(stage, stage.layout().edges[index]);
    }
  }
  if (stage.names())
    for (const std::uint32_t index : stage.memory.visible.edges)
      if (const Stroke how = stroke_of(stage, index); how.opacity > 0) head(stage, index, how);
}

void draw_rung_words(const Stage& stage) {
  if (stage.details()) RungLabels(stage).draw();
}

// Edges of the selected box stand out; for those without a route, a thread leads to the other end.
void draw_edges_of_selection(const Stage& stage) {
  const NodeId node = stage.subject.selection.node;
  const layout::BoxId box = node.valid() ? stage.picture.box(node) : layout::BoxId();
  if (!box.valid()) return;
  const Theme& theme = stage.ui.theme;
  constexpr std::size_t kMostThreads = 16;
  std::size_t threads = 0;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (const std::uint32_t index : stage.picture.edges_of(box)) {
    const Edge& edge = stage.layout().edges[index];
    if (edge.points > 0) {
      stroke(stage, index, {theme.selection, 0.9}, stage.ui.px(0.5f));
      if (stage.names()) head(stage, index, {theme.selection, 0.9});
      continue;
    }
    if (++threads > kMostThreads) continue;
    const ImVec2 a = stage.rect_of(edge.from.index).centre();
    const ImVec2 b = stage.rect_of(edge.to.index).centre();
    const float out = (edge.kind == EdgeKind::flow ? -1.0f : 1.0f) * stage.length(70);
    const float bow = edge.kind == EdgeKind::saved || edge.kind == EdgeKind::parameter ? 0 : out;
    list.AddBezierCubic(a, {a.x + bow, a.y}, {b.x + bow, b.y}, b, Ui::paint(theme.selection, 0.35),
                        stage.ui.px(1), 24);
  }
}

}  // namespace recut::gui
