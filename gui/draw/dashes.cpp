// Draws dashed lines, which ImGui lacks.
#include <algorithm>
#include <cmath>
#include <vector>

#include "gui/draw/ui.h"

namespace recut::gui {
namespace {

// The outline of a rounded rectangle as points, clockwise from the top left, closed.
std::vector<ImVec2> outline_of(const Rect& rect, float radius) {
  constexpr float kQuarter = 1.5707963f;
  constexpr int kSteps = 4;  // of each corner
  const float r = std::min(radius, std::min(rect.width(), rect.height()) / 2);
  const ImVec2 centres[] = {{rect.left + r, rect.top + r},
                            {rect.right - r, rect.top + r},
                            {rect.right - r, rect.bottom - r},
                            {rect.left + r, rect.bottom - r}};
  std::vector<ImVec2> points;
  for (int corner = 0; corner < 4; ++corner)
    for (int k = 0; k <= kSteps; ++k) {
      const float angle =
          kQuarter * (static_cast<float>(corner + 2) + static_cast<float>(k) / kSteps);
      points.push_back(
          {centres[corner].x + r * std::cos(angle), centres[corner].y + r * std::sin(angle)});
    }
  points.push_back(points.front());
  return points;
}

}  // namespace

void Ui::dashed_line(ImVec2 a, ImVec2 b, Colour colour, float width, float dash, float gap) const {
  const float length = std::hypot(b.x - a.x, b.y - a.y);
  if (length <= 0) return;
  const ImVec2 along{(b.x - a.x) / length, (b.y - a.y) / length};
  for (float at = 0; at < length; at += dash + gap) {
    const float end = std::min(length, at + dash);
    line({a.x + along.x * at, a.y + along.y * at}, {a.x + along.x * end, a.y + along.y * end},
         colour, width);
  }
}

void Ui::dashed_frame(const Rect& rect, Colour colour, float radius, float width) const {
  if (rect.empty()) return;
  const float dash = px(4), gap = px(2.5f);
  float left_of_dash = dash;  // of the dash or, below zero, of the gap that is being walked
  bool drawing = true;
  const auto points = outline_of(rect.inset(width / 2, width / 2), radius);
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    ImVec2 from = points[i];
    float rest = std::hypot(points[i + 1].x - from.x, points[i + 1].y - from.y);
    while (rest > 0) {
      const float step = std::min(rest, left_of_dash);
      const float share = step / rest;
      const ImVec2 to{from.x + (points[i + 1].x - from.x) * share,
                      from.y + (points[i + 1].y - from.y) * share};
      if (drawing) line(from, to, colour, width);
      from = to;
      rest -= step;
      left_of_dash -= step;
      if (left_of_dash > 1e-3f) continue;
      drawing = !drawing;
      left_of_dash = drawing ? dash : gap;
    }
  }
}

}  // namespace recut::gui
