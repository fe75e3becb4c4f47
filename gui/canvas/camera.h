// The part of a layout that stands on the screen, and the flight from one part to another.
#pragma once

#include <string_view>

#include "gui/draw/geometry.h"
#include "gui/draw/motion.h"
#include "gui/layout/geometry.h"

namespace recut::gui {

constexpr double kMinZoom = 1e-4, kMaxZoom = 6;
// The least zoom: from further away a graph of these bounds would be a few dozen pixels, or
// nothing.
double least_zoom(const layout::Rect& bounds);

// The point of the layout that stands in the middle of the area, and how many units of length a
// unit of the layout takes.
struct Camera {
  double x = 0, y = 0;
  double zoom = 1;
};
bool operator==(const Camera& a, const Camera& b);

// A camera on an area of the screen. `scale`: pixels for a unit of length; `bounds`: of the whole
// picture. A graph may be a hundred times as high as it is wide: from far away it would be a
// thread. It is never drawn narrower than kColumn, or than kShare of the area, but stretched to
// that: never wider than it is high, nor to more than kNamed gives it. From there only bars of
// groups can be read, which lose nothing by it.
class View {
 public:
  static constexpr double kColumn = 240;  // units of length
  static constexpr double kShare = 0.42;  // of the area's width
  static constexpr double kNamed = 0.6;   // zoom from which names are read: both ways alike

  View(const Rect& area, const Camera& camera, float scale, const layout::Rect& bounds = {});

  const Rect& area() const { return area_; }
  const Camera& camera() const { return camera_; }
  float pixels() const { return static_cast<float>(pixels_); }  // for a unit of the layout
  float pixels_across() const { return static_cast<float>(across_); }
  float zoom() const { return static_cast<float>(camera_.zoom); }

  float x(float at) const { return middle_x() + static_cast<float>((at - camera_.x) * across_); }
  float y(float at) const { return middle_y() + static_cast<float>((at - camera_.y) * pixels_); }
  ImVec2 at(layout::Point p) const { return {x(p.x), y(p.y)}; }
  Rect at(const layout::Rect& r) const { return {x(r.left), y(r.top), x(r.right), y(r.bottom)}; }

  const layout::Rect& bounds() const { return bounds_; }
  layout::Point under(ImVec2 p) const;  // the layout's point there
  layout::Rect visible() const;         // the layout's part that can be seen

 private:
  float middle_x() const { return (area_.left + area_.right) / 2; }
  float middle_y() const { return (area_.top + area_.bottom) / 2; }

  Rect area_;
  Camera camera_;
  layout::Rect bounds_;
  double pixels_, across_;
};

// Shows all of `bounds`, with a margin, at a zoom of at most `most`.
Camera fit(const layout::Rect& bounds, const Rect& area, float scale, double most);
// The camera zoomed so that the same point of the layout stays under `pointer`.
Camera zoomed(const View& view, ImVec2 pointer, float scale, double zoom);
Camera moved(const View& view, float dx, float dy);  // by pixels

// The progress of the `count`-th of several moves, 0 … 1, as Motion eases.
class Progress {
 public:
  double of(Motion& motion, std::string_view name, int count);

 private:
  double base_ = 0;
  int count_ = -1;
};

Camera between(const Camera& from, const Camera& to, double share);

}  // namespace recut::gui
