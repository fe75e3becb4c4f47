#include "gui/canvas/framing.h"

#include <algorithm>

namespace recut::gui {
namespace {

using layout::Group;

constexpr double kReadMin = 0.7, kReadMax = 0.85;  // zooms at which names and bytes are read
constexpr double kNeighbourhoodMin = 0.62, kNeighbourhoodMax = 1.2;
constexpr float kHeadings = 38;  // units above: the names of the columns, and a gap
constexpr float kMap = 82;       // that the minimap takes, from a width of kMapFrom on
constexpr float kMapFrom = 420;

// The first of the groups that are alike and hold most of the graph; null where none hold much.
const Group* most_repeated(const layout::Scene& scene) {
  const Group* best = nullptr;
  std::uint64_t most = 0;
  for (const Group& group : scene.groups) {
    if (group.shelf || group.equals < 2 || !group.parent.valid()) continue;
    const std::uint64_t nodes = std::uint64_t{group.equals} * group.nodes;
    if (nodes > most) best = &group;
    most = std::max(most, nodes);
  }
  return best != nullptr && 3 * most >= scene.nodes.size() ? best : nullptr;
}

// `at` so that the `length` that can be seen shows nothing beside `low` to `high`, as far as it
// can.
double inside(double at, double low, double high, double length) {
  if (high - low <= length) return (low + high) / 2;
  return std::clamp(at, low + length / 2, high - length / 2);
}

}  // namespace

layout::Rect main_body(const Picture& picture) {
  const layout::Scene& scene = *picture.scene;
  const Group* best = most_repeated(scene);
  if (best == nullptr) return picture.layout.bounds;
  // True for a sibling of at least half the nodes: the first and the last block of a row differ at
  // their borders.
  const auto is_of_body = [&](layout::GroupId id) {
    const Group& group = scene.groups[id.index];
    return group.parent == best->parent && 2 * group.nodes >= best->nodes;
  };
  layout::Rect body;
  for (const layout::Band& band : picture.layout.bands)
    if (is_of_body(band.group)) body = body.united(band.bounds);
  for (const layout::Box& box : picture.layout.boxes)
    if (!box.node.valid() && is_of_body(box.group)) body = body.united(box.rect);
  return body.empty() ? picture.layout.bounds : body;
}

double reach_of_columns(const Picture& picture) {
  constexpr float kMaxFrames = 12 * layout::kPadding;  // around a box that is beside the channel
  float reach = layout::kChannel / 2 + layout::kBoxWidth;
  for (const layout::Box& box : picture.layout.boxes) {
    if (box.side == layout::Side::shelf || box.column != 0) continue;
    const bool backward = box.side == layout::Side::backward;
    const float near = backward ? box.rect.left : -box.rect.right;
    if (near <= layout::kChannel / 2 + kMaxFrames)
      reach = std::max(reach, backward ? box.rect.right : -box.rect.left);
  }
  return static_cast<double>(reach);
}

Camera columns_camera(const Rect& area, float scale, double reach, float spare, double least,
                      double most) {
  const double side = reach + layout::kPadding;
  const double wide = static_cast<double>(area.width() / scale - spare);
  Camera camera;
  camera.zoom = std::clamp(wide / (2 * side), least, most);
  const double seen = wide / camera.zoom;
  // The spare width is at the right: the middle of the rest is left of the area's.
  camera.x = static_cast<double>(spare) / 2 / camera.zoom;
  if (seen < 2 * side * 0.9) camera.x += seen / 2 - side;
  return camera;
}

Camera first_camera(const Picture& picture, const Rect& area, float scale) {
  const layout::Rect& all = picture.layout.bounds;
  Camera camera = fit(all, area, scale, 1);
  if (camera.zoom >= kReadMax) return camera;
  const float spare = area.width() >= kMapFrom * scale ? kMap : 0;
  camera = columns_camera(area, scale, reach_of_columns(picture), spare, kReadMin, kReadMax);
  const double pixels = camera.zoom * static_cast<double>(scale);
  const double high = static_cast<double>(area.height()) / pixels;
  const double free = static_cast<double>(area.width() / scale - spare) / camera.zoom;
  if (static_cast<double>(all.width()) <= free)
    camera.x = static_cast<double>(all.centre().x) + static_cast<double>(spare) / 2 / camera.zoom;
  const layout::Rect body = main_body(picture);
  const bool far = static_cast<double>(body.top - all.top) > high / 2;
  const double top = static_cast<double>(far ? body.top : all.top);
  camera.y = static_cast<double>(all.height()) > high
                 ? top + high / 2 - static_cast<double>(kHeadings) / camera.zoom
                 : static_cast<double>(all.centre().y);
  return camera;
}

Camera focus_camera(const Picture& picture, const Rect& area, float scale) {
  const layout::Rect& all = picture.layout.bounds;
  Rect free = area;
  free.cut_top(kHeadings * scale);
  Camera camera = fit(all, free, scale, kNeighbourhoodMax);
  const layout::BoxId box = picture.box(picture.focus.node);
  if (camera.zoom < kNeighbourhoodMin && box.valid()) {
    camera.zoom = kNeighbourhoodMin;
    const double pixels = camera.zoom * static_cast<double>(scale);
    const layout::Point c = picture.layout.boxes[box.index].rect.centre();
    camera.x = inside(static_cast<double>(c.x), static_cast<double>(all.left),
                      static_cast<double>(all.right), static_cast<double>(free.width()) / pixels);
    camera.y = inside(static_cast<double>(c.y), static_cast<double>(all.top),
                      static_cast<double>(all.bottom), static_cast<double>(free.height()) / pixels);
  }
  camera.y -= static_cast<double>(kHeadings) / 2 / camera.zoom;
  return camera;
}

}  // namespace recut::gui
