#include "gui/draw/plot_names.h"

#include <algorithm>
#include <cmath>

namespace recut::gui {
namespace {

constexpr float kNameHigh = 15, kNameGap = 6;  // units

bool is_inside(const Rect& box, const Rect& room) {
  return box.left >= room.left && box.right <= room.right && box.top >= room.top &&
         box.bottom <= room.bottom;
}

bool is_unoccupied(const Rect& box, const Occupied& occupied) {
  return std::none_of(occupied.begin(), occupied.end(),
                      [&](const Rect& one) { return one.meets(box); });
}

// Candidate boxes of a size around a point, `away` pixels from it.
std::vector<Rect> boxes_around(ImVec2 at, ImVec2 size, float away) {
  const float x = at.x - size.x / 2, y = at.y - size.y / 2;
  return {rect_at({x, at.y - away - size.y}, size),
          rect_at({at.x + away, y}, size),
          rect_at({x, at.y + away}, size),
          rect_at({at.x - away - size.x, y}, size),
          rect_at({at.x + away, at.y - away - size.y}, size),
          rect_at({at.x + away, at.y + away}, size),
          rect_at({at.x - away - size.x, at.y - away - size.y}, size),
          rect_at({at.x - away - size.x, at.y + away}, size)};
}

}  // namespace

void occupy_line(Occupied& occupied, ImVec2 from, ImVec2 to, float width) {
  constexpr float kPart = 12;  // pixels: a slanted line is a row of boxes
  const float length = std::hypot(to.x - from.x, to.y - from.y);
  const bool straight = from.x == to.x || from.y == to.y;
  const int parts = straight ? 1 : std::max(1, static_cast<int>(length / kPart));
  for (int i = 0; i < parts; ++i) {
    const auto along = [&](int part) {
      const float share = static_cast<float>(part) / static_cast<float>(parts);
      return ImVec2{from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share};
    };
    const ImVec2 a = along(i), b = along(i + 1);
    occupied.push_back({std::min(a.x, b.x) - width / 2, std::min(a.y, b.y) - width / 2,
                        std::max(a.x, b.x) + width / 2, std::max(a.y, b.y) + width / 2});
  }
}

PlacedName place_name(const Ui& ui, const PlotName& name, const Rect& room, Occupied& occupied) {
  for (const std::string& text : name.variants) {
    const ImVec2 size{std::ceil(ui.width(text, Face::small)) + 1, ui.px(kNameHigh)};
    for (const float gap : {kNameGap, 4 * kNameGap, 8 * kNameGap})
      for (const ImVec2 anchor : name.anchors)
        for (const Rect& box : boxes_around(anchor, size, ui.px(gap))) {
          if (!is_inside(box, room) || !is_unoccupied(box, occupied)) continue;
          occupied.push_back(box);
          return {text, box, gap > kNameGap, anchor};
        }
  }
  return {};
}

void draw_name(const Ui& ui, const PlacedName& placed, Colour colour) {
  if (placed.text.empty()) return;
  const Rect& box = placed.box;
  if (placed.led) {
    const ImVec2 end{std::clamp(placed.anchor.x, box.left, box.right),
                     std::clamp(placed.anchor.y, box.top, box.bottom)};
    ui.line(placed.anchor, end, colour, 1);
  }
  ui.label({box.left, box.centre().y}, placed.text, Face::small, colour);
}

}  // namespace recut::gui
