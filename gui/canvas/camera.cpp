#include "gui/canvas/camera.h"

#include <algorithm>
#include <cmath>

namespace recut::gui {
namespace {

constexpr double kCameraMargin = 28;  // units of length around the fitted area

}  // namespace

double least_zoom(const layout::Rect& bounds) {
  constexpr double kMinLength = 64;  // units of length
  const double longest = static_cast<double>(std::max(bounds.width(), bounds.height()));
  return longest <= 0 ? kMinZoom : std::clamp(kMinLength / longest, kMinZoom, 0.25);
}

bool operator==(const Camera& a, const Camera& b) {
  return a.x == b.x && a.y == b.y && a.zoom == b.zoom;
}

View::View(const Rect& area, const Camera& camera, float scale, const layout::Rect& bounds)
    : area_(area),
      camera_(camera),
      bounds_(bounds),
      pixels_(camera.zoom * static_cast<double>(scale)),
      across_(pixels_) {
  if (bounds.empty()) return;
  const auto room = static_cast<double>(area.width()), wide = static_cast<double>(bounds.width());
  const double unit = static_cast<double>(scale);
  const double share = std::min(kShare * room, kNamed * unit * wide);
  const double least = std::min({std::max(kColumn * unit, share), room * 0.5,
                                 static_cast<double>(bounds.height()) * pixels_});
  across_ = std::max(pixels_, least / wide);
}

layout::Point View::under(ImVec2 p) const {
  return {static_cast<float>(camera_.x + static_cast<double>(p.x - middle_x()) / across_),
          static_cast<float>(camera_.y + static_cast<double>(p.y - middle_y()) / pixels_)};
}

layout::Rect View::visible() const {
  const layout::Point low = under(area_.corner()), high = under({area_.right, area_.bottom});
  return {low.x, low.y, high.x, high.y};
}

Camera fit(const layout::Rect& bounds, const Rect& area, float scale, double most) {
  if (bounds.empty()) return {};
  const auto units = [&](float pixels) {
    return std::max(1.0, static_cast<double>(pixels / scale) - 2 * kCameraMargin);
  };
  const double across = units(area.width()) / static_cast<double>(bounds.width());
  const double down = units(area.height()) / static_cast<double>(bounds.height());
  const layout::Point centre = bounds.centre();
  return {static_cast<double>(centre.x), static_cast<double>(centre.y),
          std::clamp(std::min({across, down, most}), kMinZoom, kMaxZoom)};
}

Camera zoomed(const View& view, ImVec2 pointer, float scale, double zoom) {
  const layout::Point fixed = view.under(pointer);
  const ImVec2 middle = view.area().centre();
  Camera camera;
  camera.zoom = std::clamp(zoom, least_zoom(view.bounds()), kMaxZoom);
  const View then(view.area(), camera, scale, view.bounds());
  camera.x = static_cast<double>(fixed.x - (pointer.x - middle.x) / then.pixels_across());
  camera.y = static_cast<double>(fixed.y - (pointer.y - middle.y) / then.pixels());
  return camera;
}

Camera moved(const View& view, float dx, float dy) {
  Camera camera = view.camera();
  camera.x -= static_cast<double>(dx / view.pixels_across());
  camera.y -= static_cast<double>(dy / view.pixels());
  return camera;
}

double Progress::of(Motion& motion, std::string_view name, int count) {
  const double at = motion.ease(name, count);
  if (count != count_) {
    base_ = at;
    count_ = count;
  }
  const double distance = count - base_;
  return distance <= 0 ? 1 : std::clamp((at - base_) / distance, 0.0, 1.0);
}

Camera between(const Camera& from, const Camera& to, double share) {
  if (share >= 1) return to;
  const double zoom = from.zoom * std::exp(std::log(to.zoom / from.zoom) * share);
  return {from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share, zoom};
}

}  // namespace recut::gui
