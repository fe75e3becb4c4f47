// Points and rectangles of the layout, in layout units (pixels at zoom 1), y downwards.
//
// Every coordinate is a whole number below 2^24 in size, so that floats hold it exactly and the
// layout has the same bits on every platform.
#pragma once

#include <algorithm>

namespace recut::gui::layout {

struct Point {
  float x = 0;
  float y = 0;
  friend bool operator==(Point a, Point b) { return a.x == b.x && a.y == b.y; }
};

struct Rect {
  float left = 0, top = 0, right = 0, bottom = 0;

  float width() const { return right - left; }
  float height() const { return bottom - top; }
  Point centre() const { return {(left + right) / 2, (top + bottom) / 2}; }
  bool empty() const { return right <= left || bottom <= top; }
  bool contains(Point p) const {
    return p.x >= left && p.x <= right && p.y >= top && p.y <= bottom;
  }
  bool contains(const Rect& other) const {
    return other.left >= left && other.right <= right && other.top >= top && other.bottom <= bottom;
  }
  // True if it shares more than an edge with `other`.
  bool overlaps(const Rect& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
  // True if it shares at least a point with `other`.
  bool touches(const Rect& other) const {
    return left <= other.right && other.left <= right && top <= other.bottom && other.top <= bottom;
  }
  Rect moved(float dx, float dy) const { return {left + dx, top + dy, right + dx, bottom + dy}; }
  Rect grown(float by) const { return {left - by, top - by, right + by, bottom + by}; }
  Rect united(const Rect& other) const {
    if (empty()) return other;
    if (other.empty()) return *this;
    return {std::min(left, other.left), std::min(top, other.top), std::max(right, other.right),
            std::max(bottom, other.bottom)};
  }
  friend bool operator==(const Rect& a, const Rect& b) {
    return a.left == b.left && a.top == b.top && a.right == b.right && a.bottom == b.bottom;
  }
};

// The sizes of the layout.
constexpr float kBoxWidth = 208;  // of a node or a collapsed group, for any length of name
constexpr float kBoxHeight = 28;
constexpr float kRowGap = 26;     // between two rows; edges run across in it
constexpr float kColumnGap = 28;  // between two boxes of a row
constexpr float kPadding = 16;    // inside a group's frame
constexpr float kHeader = 30;     // of a group's frame: room for its name
constexpr float kChannel = 176;   // between the forward and the backward side: saved values cross
constexpr float kPitch = kBoxHeight + kRowGap;

}  // namespace recut::gui::layout
