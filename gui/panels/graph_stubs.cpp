// Marks for edges that are too long to draw: which way they go, to what, and how much.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/canvas/words.h"
#include "gui/panels/graph_parts.h"

namespace recut::gui {
namespace {

using layout::Edge;
using layout::EdgeKind;
using layout::Stub;

constexpr float kLength = 9;  // units of the layout

struct Sum {
  std::uint32_t saved = 0, again = 0;
  std::int64_t bytes = 0;
};

Sum sum_of(const Stage& stage, const Stub& stub) {
  Sum sum;
  for (std::uint32_t i = 0; i < stub.edges; ++i) {
    const std::uint32_t edge = stage.layout().stub_edges[stub.first_edge + i];
    sum.saved += stage.marks.rungs[edge].saved;
    sum.again += stage.marks.rungs[edge].again;
    sum.bytes += stage.marks.rungs[edge].bytes;
  }
  return sum;
}

Colour colour_of(const Stage& stage, const Stub& stub, const Sum& sum) {
  const Theme& theme = stage.ui.theme;
  if (stub.kind == EdgeKind::parameter) return theme.line;
  if (stub.kind == EdgeKind::gradient) return mix(theme.freed, theme.result, 0.45);
  if (stub.kind == EdgeKind::flow) return theme.freed;
  return sum.saved > 0 ? theme.saved : sum.again > 0 ? theme.recomputed : theme.faint;
}

std::string words_of(const Stage& stage, const Stub& stub, const Sum& sum) {
  if (stub.kind == EdgeKind::parameter && stub.edges == 1 && !stub.incoming) return {};
  std::string words;
  if (stub.edges == 1) {
    const Edge& edge = stage.layout().edges[stage.layout().stub_edges[stub.first_edge]];
    const layout::BoxId other = stub.incoming ? edge.from : edge.to;
    const layout::Box& box = stage.layout().boxes[other.index];
    words = name_of(stage.picture, box);
    if (box.node.valid()) words = std::string(within_path(words, stage.picture.group(box).path));
  } else {
    const char* what = stub.kind == EdgeKind::parameter ? "parameters"
                       : stub.incoming                  ? "values"
                                                        : "readers";
    words = fmt::format("{} {}", stub.edges, what);
  }
  // In the channel there is room for a figure, and for names where one looks closely.
  if (stub.kind == EdgeKind::saved) {
    const std::string figure = sum.saved > 0   ? format_bytes(sum.bytes)
                               : sum.again > 0 ? std::string("again")
                                               : std::string();
    const bool close = stage.view.zoom() >= 1.5f || figure.empty();
    words = close && !figure.empty() ? words + " · " + figure : figure.empty() ? words : figure;
  }
  return (stub.incoming ? "← " : "→ ") + words;
}

Rect label_place(const Stage& stage, const Stub& stub, ImVec2 tip) {
  const float high = stage.length(12);
  if (stub.direction.x == 0) {
    // Beside the tip, to the outer half of the box.
    const float y = tip.y;
    return {tip.x + stage.length(5), y - high / 2, tip.x + stage.length(104), y + high / 2};
  }
  const float gap = stage.length(5), wide = stage.length(stub.kind == EdgeKind::saved ? 72 : 24);
  return stub.direction.x > 0
             ? Rect{tip.x + gap, tip.y - high / 2, tip.x + gap + wide, tip.y + high / 2}
             : Rect{tip.x - gap - wide, tip.y - high / 2, tip.x - gap, tip.y + high / 2};
}

void draw_stub(const Stage& stage, std::uint32_t index) {
  const Stub& stub = stage.layout().stubs[index];
  // A parameter's own marks say nothing that its box doesn't.
  if (stage.layout().boxes[stub.box.index].side == layout::Side::shelf) return;
  const Ui& ui = stage.ui;
  const Sum sum = sum_of(stage, stub);
  const Colour colour = colour_of(stage, stub, sum);
  const ImVec2 from = stage.view.at(stub.at);
  const float reach = stage.length(kLength);
  const ImVec2 tip{from.x + stub.direction.x * reach, from.y + stub.direction.y * reach};
  const float width = std::max(1.0f, ui.px(1.1f));
  ui.line(from, tip, colour, width, static_cast<double>(stage.arrived));
  ui.circle(tip, std::max(1.5f, stage.length(2.2f)), colour);
  const Rect place = label_place(stage, stub, tip);
  const bool hovered = place.contains(ImGui::GetIO().MousePos);
  if (stub.kind == EdgeKind::parameter && stub.edges == 1 && !hovered) {
    stage.memory.stubs.push_back({rect_around(tip, stage.length(12), stage.length(12)), index});
    return;
  }
  stage.memory.stubs.push_back({place, index});
  constexpr std::int64_t kWorthTelling = 1024;  // bytes
  const bool little = stub.kind == EdgeKind::saved && sum.saved > 0 && sum.bytes < kWorthTelling;
  if (!stage.details() || (little && !hovered)) return;
  Colour ink = stub.kind == EdgeKind::saved ? colour : ui.theme.faint;
  if (hovered) ink = ui.theme.text;
  const Ink::Type type{Face::mono_small, stage.type_size() * 0.9f, ink};
  const std::string words = words_of(stage, stub, sum);
  const bool left = stub.direction.x < 0;
  const float wide = std::min(place.width(), stage.ink.width(words, type)) + 2;
  const Rect ground{left ? place.right - wide : place.left - 1, place.top,
                    left ? place.right + 1 : place.left + wide, place.bottom};
  ui.fill(ground, ui.theme.background, ui.px(2), 0.75);
  stage.ink.text(place, words, type, left ? Align::right : Align::left);
}

}  // namespace

void draw_stubs(const Stage& stage) {
  stage.memory.stubs.clear();
  if (!stage.names() || stage.moving()) return;
  for (const std::uint32_t box : stage.memory.visible.boxes)
    for (std::uint32_t i = stage.layout().first_stub[box]; i < stage.layout().first_stub[box + 1];
         ++i)
      draw_stub(stage, i);
}

const StubSpot* stub_at(const Stage& stage, ImVec2 at) {
  const float more = stage.ui.px(2);
  for (const StubSpot& spot : stage.memory.stubs)
    if (spot.rect.inset(-more, -more).contains(at)) return &spot;
  return nullptr;
}

std::vector<layout::BoxId> ends_of(const Stage& stage, const Stub& stub) {
  std::vector<layout::BoxId> ends;
  for (std::uint32_t i = 0; i < stub.edges; ++i) {
    const Edge& edge = stage.layout().edges[stage.layout().stub_edges[stub.first_edge + i]];
    ends.push_back(stub.incoming ? edge.from : edge.to);
  }
  return ends;
}

}  // namespace recut::gui
