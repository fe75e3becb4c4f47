// Frames of open groups with their titles, and bars that stand for groups from far away.
#include <algorithm>

#include "gui/canvas/box_labels.h"
#include "gui/panels/graph_parts.h"

namespace recut::gui {
namespace {

using layout::Band;

Colour ground_of(const Theme& theme, const Band& band) {
  return mix(theme.background, theme.panel, band.depth % 2 == 1 ? 0.85 : 0.55);
}

// The +/- that closes an open group; returns its width.
float close_sign(const GraphPaneContext& context, const layout::Group& group, const Rect& line) {
  const Ui& ui = context.ui;
  const float side = context.length(kFold);
  const ImVec2 c{line.left + side / 2, line.centre().y};
  const Rect sign = rect_around(c, side, side);
  ui.fill(sign, ui.theme.background);
  ui.frame(sign, ui.theme.faint, ui.px(1));
  ui.line({c.x - side * 0.28f, c.y}, {c.x + side * 0.28f, c.y}, ui.theme.dim, 1);
  ui.items.add(fold_label(group), ItemKind::figure, sign.within(context.view.area()), true, "open");
  return side + context.length(8);
}

// Draws a frame's name in its head, and behind it the number of groups like it. Wires pass behind.
void frame_title(const GraphPaneContext& context, const Band& band, const Rect& frame,
                 bool forward) {
  const Ui& ui = context.ui;
  const layout::Group& group = context.picture.scene->groups[band.group.index];
  const float head = context.length(layout::kHeader);
  if (frame.height() < ui.px(20) || frame.width() < ui.px(40) || head < ui.px(8)) return;
  const float high = std::max(head, ui.px(12));
  Rect line{frame.left + context.length(12), frame.top, frame.right - context.length(10),
            frame.top + high};
  if (forward) line.cut_left(close_sign(context, group, line));
  const float size = std::clamp(context.type_size(), 0.7f, 1.0f);
  const Ink::Type title{Face::strong, size, ui.theme.dim, context.arrived};
  const Ink::Type more{Face::small, size, ui.theme.dim, context.arrived};
  const std::string label = label_of(group);
  const float gap = context.length(6);
  float wide = std::min(line.width(), context.ink.width(label, title));
  std::string alike;
  for (const std::string& text : alike_text(group))
    if (alike.empty() && wide + gap + context.ink.width(text, more) <= line.width()) alike = text;
  if (!alike.empty()) wide += gap + context.ink.width(alike, more);
  const float half = std::min(line.height(), ui.px(16) * size) / 2;
  ui.fill({line.left - ui.px(2), line.centre().y - half, line.left + wide + ui.px(3),
           line.centre().y + half},
          ground_of(ui.theme, band), ui.px(2), context.arrived);
  line.cut_left(std::min(line.width(), context.ink.text(line, label, title) + gap));
  context.ink.text(line, alike, more);
}

// The label beside a bar that stands for a group, over the frames around it. Equal groups stand
// above and below it, so their count is left out.
void block_name(const GraphPaneContext& context, const Band& band, const Rect& bar) {
  const Ui& ui = context.ui;
  const float size = std::min(1.0f, bar.height() / ui.px(11));
  if (size < 0.75f) return;
  const std::string text = label_of(context.picture.scene->groups[band.group.index]);
  const Ink::Type type{Face::small, size, ui.theme.dim};
  const float wide = std::min(ui.px(160), context.ink.width(text, type) + 1);
  const float right = bar.left - ui.px(8);
  const Rect beside{right - wide, bar.top, right, bar.bottom};
  ui.fill(beside.inset(-ui.px(4), 0), ui.theme.background);
  context.ink.text(beside, text, type, Align::right);
}

}  // namespace

void draw_composition(const GraphPaneContext& context, const Rect& rect, const BoxMarks& marks,
                      double opacity) {
  const Theme& theme = context.ui.theme;
  const float all = static_cast<float>(marks.saved + marks.again + marks.others);
  if (all <= 0) return;
  Rect rest = rect;
  const std::pair<std::uint32_t, Colour> parts[] = {
      {marks.saved, theme.saved}, {marks.again, theme.recomputed}, {marks.others, theme.freed}};
  for (const auto& [count, colour] : parts) {
    if (count == 0) continue;
    const float wide = std::max(2.0f, rect.width() * static_cast<float>(count) / all);
    context.ui.fill(rest.cut_left(wide), colour, 0,
                    colour == theme.freed ? 0.5 * opacity : opacity);
  }
}

std::string fold_label(const layout::Group& group) {
  return "fold " + std::string(clipped(group.path.empty() ? group.label : group.path));
}

void draw_frames(const GraphPaneContext& context) {
  const Theme& theme = context.ui.theme;
  for (const std::uint32_t b : context.memory.visible.bands) {
    const Band& band = context.layout().bands[b];
    for (const layout::Rect* side : {&band.forward, &band.backward}) {
      if (side->empty()) continue;
      const Rect frame = context.view.at(*side);
      if (!frame.meets(context.view.area())) continue;
      const float radius = std::min(context.length(6), context.ui.px(6));
      context.ui.fill(frame, ground_of(theme, band), radius, context.arrived);
      context.ui.frame(frame, theme.frame, radius);
    }
  }
  for (const std::uint32_t b : context.memory.visible.blocks) {
    const Band& band = context.layout().bands[b];
    if (!band.backward.empty())
      context.ui.fill(context.view.at(band.backward), theme.result, 1, 0.28);
    if (band.forward.empty()) continue;
    Rect bar = context.view.at(band.forward);
    bar.bottom = std::max(bar.bottom - 1, bar.top + 1);
    draw_composition(context, bar, context.marks.bands[b], 0.8);
    block_name(context, band, bar);
  }
}

Rect titled_part(const GraphPaneContext& context, const layout::Rect& frame) {
  Rect part = context.view.at(frame);
  part.left = std::max(part.left, context.view.area().left);
  return part;
}

void draw_titles(const GraphPaneContext& context) {
  for (const std::uint32_t b : context.memory.visible.bands) {
    const Band& band = context.layout().bands[b];
    for (const layout::Rect* side : {&band.forward, &band.backward}) {
      if (side->empty()) continue;
      const Rect frame = titled_part(context, *side);
      if (frame.meets(context.view.area()))
        frame_title(context, band, frame, side == &band.forward || band.forward.empty());
    }
  }
}

}  // namespace recut::gui
