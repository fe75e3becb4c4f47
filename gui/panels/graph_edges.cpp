// Edges with a route: along a side, and rungs across the channel.
#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/panels/graph_parts.h"

namespace recut::gui {
namespace {

using layout::Edge;
using layout::EdgeKind;

// As wide as their bytes: a pixel and a half more for each factor of 16 from a KiB.
float width_of(const Stage& stage, const Edge& edge) {
  const float units = 1 + 0.55f * static_cast<float>(edge.width_class);
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

// Where a rung enters the channel: its bytes stand there, so that a value that is read twice has
// them once.
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
  if (!stage.details()) return;
  const float size = stage.type_size();
  const Rect place{from - stage.length(60), y - stage.length(12), from - radius - stage.length(5),
                   y + stage.length(12)};
  stage.ink.text(place, "again", {Face::small, size, violet}, Align::right);
}

// Bytes above the line, unless another label stands there.
void bytes_of_rung(const Stage& stage, std::uint32_t index, std::vector<float>& taken) {
  const Edge& edge = stage.layout().edges[index];
  const RungMarks& rung = stage.marks.rungs[index];
  if (rung.saved == 0 || !stage.details()) return;
  const float at = entry_y(stage.layout().route(edge));
  for (const float other : taken)
    if (std::abs(other - at) < 12) return;
  taken.push_back(at);
  const float y = stage.view.y(at) - stage.length(2);
  const Rect place{stage.view.x(-layout::kChannel / 2), y - stage.length(14), stage.view.x(-6), y};
  stage.ink.text(place, format_bytes(rung.bytes),
                 {Face::mono_small, stage.type_size(), stage.ui.theme.saved}, Align::centre);
}

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

}  // namespace

void draw_routes(const Stage& stage) {
  std::vector<float> taken;
  stage.memory.again.assign(stage.layout().boxes.size(), 0);
  for (const std::uint32_t index : stage.memory.visible.edges) {
    const Stroke how = stroke_of(stage, index);
    if (how.opacity > 0) {
      stroke(stage, index, how, 0);
    } else if (stage.view.zoom() > 0.2f) {
      again(stage, stage.layout().edges[index]);
    }
    if (stage.layout().edges[index].kind == EdgeKind::saved) bytes_of_rung(stage, index, taken);
  }
}

// Those of the selected box stand out; where they have no route, a thread leads to the other end.
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
