// Rectangles in pixels, from which panels cut rows and columns.
#pragma once

#include <imgui.h>

#include <algorithm>

namespace recut::gui {

struct Rect {
  float left = 0, top = 0, right = 0, bottom = 0;

  float width() const { return right - left; }
  float height() const { return bottom - top; }
  ImVec2 corner() const { return {left, top}; }
  ImVec2 size() const { return {width(), height()}; }
  ImVec2 centre() const { return {(left + right) / 2, (top + bottom) / 2}; }
  bool empty() const { return right <= left || bottom <= top; }
  bool contains(ImVec2 p) const { return p.x >= left && p.x < right && p.y >= top && p.y < bottom; }
  bool meets(const Rect& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
  Rect within(const Rect& other) const {
    return {std::max(left, other.left), std::max(top, other.top), std::min(right, other.right),
            std::min(bottom, other.bottom)};
  }
  Rect inset(float x, float y) const { return {left + x, top + y, right - x, bottom - y}; }
  Rect moved(float x, float y) const { return {left + x, top + y, right + x, bottom + y}; }

  // Cuts a strip off one side and returns it; at most the whole rectangle.
  Rect cut_top(float height) {
    const float line = std::min(bottom, top + height);
    const Rect strip{left, top, right, line};
    top = line;
    return strip;
  }
  Rect cut_bottom(float height) {
    const float line = std::max(top, bottom - height);
    const Rect strip{left, line, right, bottom};
    bottom = line;
    return strip;
  }
  Rect cut_left(float width) {
    const float line = std::min(right, left + width);
    const Rect strip{left, top, line, bottom};
    left = line;
    return strip;
  }
  Rect cut_right(float width) {
    const float line = std::max(left, right - width);
    const Rect strip{line, top, right, bottom};
    right = line;
    return strip;
  }
};

inline Rect rect_at(ImVec2 corner, ImVec2 size) {
  return {corner.x, corner.y, corner.x + size.x, corner.y + size.y};
}
inline Rect rect_around(ImVec2 centre, float width, float height) {
  return {centre.x - width / 2, centre.y - height / 2, centre.x + width / 2, centre.y + height / 2};
}

}  // namespace recut::gui
