#include <cmath>

#include "gui/layout/graph_layout.h"

namespace recut::gui::layout {
namespace {

constexpr float kReadable = 0.45f;  // zoom from which names are worth drawing
constexpr float kSmallest = 1.5f;   // pixels; a box lower than that is left to its band's frame

Rect bounds_of(const GraphLayout& layout, const Edge& edge) {
  const std::span<const Point> route = layout.route(edge);
  Rect bounds{route[0].x, route[0].y, route[0].x, route[0].y};
  for (const Point p : route)
    bounds = {std::min(bounds.left, p.x), std::min(bounds.top, p.y), std::max(bounds.right, p.x),
              std::max(bounds.bottom, p.y)};
  return bounds;
}

float distance_to(Point at, Point a, Point b) {
  const float x = std::max(std::min(a.x, b.x), std::min(at.x, std::max(a.x, b.x)));
  const float y = std::max(std::min(a.y, b.y), std::min(at.y, std::max(a.y, b.y)));
  return std::abs(at.x - x) + std::abs(at.y - y);
}

void look_at_band(const GraphLayout& layout, const Band& band, const Rect& rect, float zoom,
                  Visible& out) {
  for (std::uint32_t i = 0; i < band.boxes && kBoxHeight * zoom >= kSmallest; ++i) {
    const std::uint32_t box = band.first_box + i;
    if (layout.boxes[box].rect.touches(rect)) out.boxes.push_back(box);
  }
  for (std::uint32_t i = 0; i < band.edges && kRowGap * zoom >= kSmallest; ++i) {
    const std::uint32_t edge = layout.edge_order[band.first_edge + i];
    if (bounds_of(layout, layout.edges[edge]).touches(rect)) out.edges.push_back(edge);
  }
}

}  // namespace

void look(const GraphLayout& layout, const Rect& rect, float zoom, Visible& out, float block) {
  out.bands.clear();
  out.blocks.clear();
  out.boxes.clear();
  out.edges.clear();
  out.labels = out.stubs = zoom >= kReadable;
  for (std::uint32_t b = 0; b < layout.bands.size();) {
    const Band& band = layout.bands[b];
    if (!band.bounds.touches(rect)) {
      b = band.end;
      continue;
    }
    if (b != 0 && band.bounds.height() * zoom < block) {
      out.blocks.push_back(b);
      b = band.end;
      continue;
    }
    if (b != 0) out.bands.push_back(b);
    look_at_band(layout, band, rect, zoom, out);
    ++b;
  }
}

BoxId hit_box(const GraphLayout& layout, Point at) {
  BoxId found;
  layout.grid.any({at.x, at.y, at.x, at.y}, [&](std::uint32_t box) {
    if (!layout.boxes[box].rect.contains(at)) return false;
    found = BoxId(box);
    return true;
  });
  return found;
}

GroupId hit_group(const GraphLayout& layout, Point at) {
  GroupId found;
  for (std::uint32_t b = 0; b < layout.bands.size();) {
    const Band& band = layout.bands[b];
    if (b != 0 && !band.bounds.contains(at)) {
      b = band.end;
      continue;
    }
    for (const Rect& frame : {band.forward, band.backward})
      if (!frame.empty() && frame.contains(at)) found = band.group;
    ++b;
  }
  return found;
}

std::uint32_t hit_edge(const GraphLayout& layout, Point at, float reach) {
  const Rect near = Rect{at.x, at.y, at.x, at.y}.grown(reach);
  std::uint32_t found = Scene::kNone;
  float best = reach;
  for (std::uint32_t b = 0; b < layout.bands.size();) {
    const Band& band = layout.bands[b];
    if (!band.bounds.touches(near)) {
      b = band.end;
      continue;
    }
    for (std::uint32_t i = 0; i < band.edges; ++i) {
      const std::uint32_t edge = layout.edge_order[band.first_edge + i];
      const std::span<const Point> route = layout.route(layout.edges[edge]);
      for (std::size_t p = 1; p < route.size(); ++p) {
        const float distance = distance_to(at, route[p - 1], route[p]);
        if (distance > best || (distance == best && found != Scene::kNone)) continue;
        best = distance;
        found = edge;
      }
    }
    ++b;
  }
  return found;
}

}  // namespace recut::gui::layout
