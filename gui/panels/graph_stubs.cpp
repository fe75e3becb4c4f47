// Marks for edges that are too long to draw: their direction, target and number.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/canvas/box_labels.h"
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

Sum sum_of(const GraphPaneContext& context, const Stub& stub) {
  Sum sum;
  for (std::uint32_t i = 0; i < stub.edges; ++i) {
    const std::uint32_t edge = context.layout().stub_edges[stub.first_edge + i];
    sum.saved += context.marks.rungs[edge].saved;
    sum.again += context.marks.rungs[edge].again;
    sum.bytes += context.marks.rungs[edge].bytes;
  }
  return sum;
}

Colour colour_of(const GraphPaneContext& context, const Stub& stub, const Sum& sum) {
  const Theme& theme = context.ui.theme;
  if (stub.kind == EdgeKind::parameter) return theme.line;
  if (stub.kind == EdgeKind::gradient) return mix(theme.freed, theme.result, 0.45);
  if (stub.kind == EdgeKind::flow) return theme.freed;
  return sum.saved > 0 ? theme.saved : sum.again > 0 ? theme.recomputed : theme.faint;
}

std::string stub_text(const GraphPaneContext& context, const Stub& stub, const Sum& sum) {
  if (stub.kind == EdgeKind::parameter && stub.edges == 1 && !stub.incoming) return {};
  std::string text;
  if (stub.edges == 1) {
    const Edge& edge = context.layout().edges[context.layout().stub_edges[stub.first_edge]];
    const layout::BoxId other = stub.incoming ? edge.from : edge.to;
    const layout::Box& box = context.layout().boxes[other.index];
    text = name_of(context.picture, box);
    if (box.node.valid()) text = std::string(within_path(text, context.picture.group(box).path));
  } else {
    const char* what = stub.kind == EdgeKind::parameter ? "parameters"
                       : stub.incoming                  ? "values"
                                                        : "readers";
    text = fmt::format("{} {}", stub.edges, what);
  }
  // The channel has room for a figure, and for names at a large zoom.
  if (stub.kind == EdgeKind::saved) {
    const std::string figure = sum.saved > 0   ? format_bytes(sum.bytes)
                               : sum.again > 0 ? std::string("again")
                                               : std::string();
    const bool close = context.view.zoom() >= 1.5f || figure.empty();
    text = close && !figure.empty() ? text + " · " + figure : figure.empty() ? text : figure;
  }
  return (stub.incoming ? "← " : "→ ") + text;
}

Rect stub_label_rect(const GraphPaneContext& context, const Stub& stub, ImVec2 tip) {
  const float high = context.length(12);
  if (stub.direction.x == 0) {
    // The label is beside the tip, towards the outer half of the box.
    const float y = tip.y;
    return {tip.x + context.length(5), y - high / 2, tip.x + context.length(104), y + high / 2};
  }
  const float gap = context.length(5),
              wide = context.length(stub.kind == EdgeKind::saved ? 72 : 24);
  return stub.direction.x > 0
             ? Rect{tip.x + gap, tip.y - high / 2, tip.x + gap + wide, tip.y + high / 2}
             : Rect{tip.x - gap - wide, tip.y - high / 2, tip.x - gap, tip.y + high / 2};
}

void draw_stub(const GraphPaneContext& context, std::uint32_t index) {
  const Stub& stub = context.layout().stubs[index];
  // A parameter's own stubs get no label: its box says the same.
  if (context.layout().boxes[stub.box.index].side == layout::Side::shelf) return;
  const Ui& ui = context.ui;
  const Sum sum = sum_of(context, stub);
  const Colour colour = colour_of(context, stub, sum);
  const ImVec2 from = context.view.at(stub.at);
  const float reach = context.length(kLength);
  const ImVec2 tip{from.x + stub.direction.x * reach, from.y + stub.direction.y * reach};
  const float width = std::max(1.0f, ui.px(1.1f));
  ui.line(from, tip, colour, width, static_cast<double>(context.arrived));
  ui.circle(tip, std::max(1.5f, context.length(2.2f)), colour);
  const Rect rect = stub_label_rect(context, stub, tip);
  const bool hovered = rect.contains(ImGui::GetIO().MousePos);
  if (stub.kind == EdgeKind::parameter && stub.edges == 1 && !hovered) {
    context.memory.stubs.push_back(
        {rect_around(tip, context.length(12), context.length(12)), index});
    return;
  }
  context.memory.stubs.push_back({rect, index});
  constexpr std::int64_t kWorthTelling = 1024;  // bytes
  const bool little = stub.kind == EdgeKind::saved && sum.saved > 0 && sum.bytes < kWorthTelling;
  if (!context.details() || (little && !hovered)) return;
  Colour ink = stub.kind == EdgeKind::saved ? colour : ui.theme.faint;
  if (hovered) ink = ui.theme.text;
  const Ink::Type type{Face::mono_small, context.type_size() * 0.9f, ink};
  const std::string text = stub_text(context, stub, sum);
  const bool left = stub.direction.x < 0;
  const float wide = std::min(rect.width(), context.ink.width(text, type)) + 2;
  const Rect ground{left ? rect.right - wide : rect.left - 1, rect.top,
                    left ? rect.right + 1 : rect.left + wide, rect.bottom};
  ui.fill(ground, ui.theme.background, ui.px(2), 0.75);
  context.ink.text(rect, text, type, left ? Align::right : Align::left);
}

}  // namespace

void draw_stubs(const GraphPaneContext& context) {
  context.memory.stubs.clear();
  if (!context.names() || context.moving()) return;
  for (const std::uint32_t box : context.memory.visible.boxes)
    for (std::uint32_t i = context.layout().first_stub[box];
         i < context.layout().first_stub[box + 1]; ++i)
      draw_stub(context, i);
}

const StubSpot* stub_at(const GraphPaneContext& context, ImVec2 at) {
  const float more = context.ui.px(2);
  for (const StubSpot& spot : context.memory.stubs)
    if (spot.rect.inset(-more, -more).contains(at)) return &spot;
  return nullptr;
}

std::vector<layout::BoxId> ends_of(const GraphPaneContext& context, const Stub& stub) {
  std::vector<layout::BoxId> ends;
  for (std::uint32_t i = 0; i < stub.edges; ++i) {
    const Edge& edge = context.layout().edges[context.layout().stub_edges[stub.first_edge + i]];
    ends.push_back(stub.incoming ? edge.from : edge.to);
  }
  return ends;
}

}  // namespace recut::gui
