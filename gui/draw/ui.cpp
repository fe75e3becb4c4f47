#include "gui/draw/ui.h"

#include <cmath>

namespace recut::gui {
namespace {

ImDrawList& list() { return *ImGui::GetWindowDrawList(); }

}  // namespace

Colour colour_of(const Theme& theme, Role role) {
  const Colour colours[kRoles] = {theme.saved,  theme.recomputed, theme.freed,
                                  theme.result, theme.dim,        theme.faint};
  return colours[static_cast<std::size_t>(role)];
}

Colour colour_of(const Theme& theme, BudgetAnswer answer) {
  const Colour colours[] = {theme.selection, theme.dim, theme.conflict};
  return colours[static_cast<std::size_t>(answer)];
}

float Ui::target(float units) const {
  return std::round(px(fingers ? std::max(units, kFinger) : units));
}

float Ui::whole(float units) const { return std::max(1.0f, std::round(units * scale)); }

ImU32 Ui::paint(Colour colour, double opacity) {
  return IM_COL32((colour >> 16) & 0xff, (colour >> 8) & 0xff, colour & 0xff,
                  static_cast<int>(std::lround(opacity * 255)));
}

void Ui::fill(const Rect& rect, Colour colour, float radius, double opacity) const {
  if (!rect.empty())
    list().AddRectFilled({rect.left, rect.top}, {rect.right, rect.bottom}, paint(colour, opacity),
                         radius);
}

void Ui::frame(const Rect& rect, Colour colour, float radius, float width) const {
  if (!rect.empty())
    list().AddRect({rect.left, rect.top}, {rect.right, rect.bottom}, paint(colour), radius, 0,
                   width);
}

void Ui::line(ImVec2 a, ImVec2 b, Colour colour, float width, double opacity) const {
  // ImGui moves both ends by half a pixel, so that upright and level lines of odd width cover whole
  // pixels.
  list().AddLine(a, b, paint(colour, opacity), width);
}

void Ui::circle(ImVec2 centre, float radius, Colour fill) const {
  list().AddCircleFilled(centre, radius, paint(fill));
}

void Ui::ring(ImVec2 centre, float radius, Colour colour, float width) const {
  list().AddCircle(centre, radius, paint(colour), 0, width);
}

void Ui::cross(ImVec2 centre, float arm, Colour colour, float width) const {
  line({centre.x - arm, centre.y - arm}, {centre.x + arm, centre.y + arm}, colour, width);
  line({centre.x - arm, centre.y + arm}, {centre.x + arm, centre.y - arm}, colour, width);
}

void Ui::diamond(ImVec2 centre, float r, Colour colour) const {
  list().AddQuadFilled({centre.x, centre.y - r}, {centre.x + r, centre.y}, {centre.x, centre.y + r},
                       {centre.x - r, centre.y}, paint(colour));
}

void Ui::sign(ImVec2 centre, Role role) const {
  const Colour colour = colour_of(theme, role);
  const float side = px(11);
  const Rect box = rect_around({std::round(centre.x), std::round(centre.y)}, side, px(9));
  switch (role) {
    case Role::saved:
      return fill(box, colour, px(1));
    case Role::recomputed:
      return dashed_frame(box, colour, px(4), whole(1.2f));
    case Role::freed:
      return frame(box, colour, px(1), whole(1));
    case Role::result:
      return diamond(centre, px(6), colour);
    case Role::input:
      return circle(centre, px(3), colour);
    case Role::inside:
      return ring(centre, px(3), colour, whole(1));
  }
}

}  // namespace recut::gui
