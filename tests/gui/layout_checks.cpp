#include "tests/gui/layout_checks.h"

#include <fmt/core.h>

#include <vector>

namespace recut::test {
namespace {

using gui::layout::Band;
using gui::layout::Box;
using gui::layout::BoxId;
using gui::layout::Edge;
using gui::layout::GraphLayout;
using gui::layout::Point;
using gui::layout::Rect;
using gui::layout::Scene;
using gui::layout::Side;
using gui::layout::Stub;

std::string box_faults(const GraphLayout& layout) {
  for (std::uint32_t b = 0; b < layout.boxes.size(); ++b) {
    const Box& box = layout.boxes[b];
    if (!layout.bounds.contains(box.rect)) return fmt::format("box {} is out of bounds", b);
    std::string fault;
    layout.grid.any(box.rect, [&](std::uint32_t other) {
      if (other == b || !layout.boxes[other].rect.overlaps(box.rect)) return false;
      fault = fmt::format("boxes {} and {} overlap", b, other);
      return true;
    });
    if (!fault.empty()) return fault;
    if (!box.partner.valid()) continue;
    const Box& partner = layout.boxes[box.partner.index];
    if (partner.rect.top != box.rect.top || partner.partner != BoxId(b))
      return fmt::format("box {} and its partner stand in different rows", b);
    if ((partner.side == Side::backward) == (box.side == Side::backward))
      return fmt::format("box {} and its partner stand on the same side", b);
  }
  return {};
}

const Rect& frame_of(const Band& band, const Box& box) {
  return box.side == Side::backward ? band.backward : band.forward;
}

std::string band_faults(const GraphLayout& layout) {
  for (std::uint32_t b = 0; b < layout.bands.size(); ++b) {
    const Band& band = layout.bands[b];
    for (std::uint32_t i = 0; b != 0 && i < band.boxes; ++i)
      if (!frame_of(band, layout.boxes[band.first_box + i])
               .contains(layout.boxes[band.first_box + i].rect))
        return fmt::format("box {} is outside the frame of band {}", band.first_box + i, b);
    for (std::uint32_t child = b + 1; child < band.end; child = layout.bands[child].end) {
      const Band& inner = layout.bands[child];
      if (!band.bounds.contains(inner.bounds)) return fmt::format("band {} sticks out", child);
      if (b == 0) continue;
      if ((!inner.forward.empty() && !band.forward.contains(inner.forward)) ||
          (!inner.backward.empty() && !band.backward.contains(inner.backward)))
        return fmt::format("a frame of band {} sticks out of band {}", child, b);
    }
  }
  return {};
}

bool on_border(const Rect& rect, Point p) {
  return rect.contains(p) &&
         (p.x == rect.left || p.x == rect.right || p.y == rect.top || p.y == rect.bottom);
}

std::string route_faults(const GraphLayout& layout) {
  for (std::uint32_t e = 0; e < layout.edges.size(); ++e) {
    const Edge& edge = layout.edges[e];
    if (edge.from == edge.to) return fmt::format("edge {} is a loop", e);
    if (edge.points == 0) continue;
    const std::span<const Point> route = layout.route(edge);
    if (!on_border(layout.boxes[edge.from.index].rect, route.front()) ||
        !on_border(layout.boxes[edge.to.index].rect, route.back()))
      return fmt::format("edge {} doesn't join its boxes", e);
    for (std::size_t i = 1; i < route.size(); ++i) {
      const Point a = route[i - 1], b = route[i];
      if (a.x != b.x && a.y != b.y) return fmt::format("edge {} has a slanting piece", e);
      const Rect piece{std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x),
                       std::max(a.y, b.y)};
      if (layout.grid.any(
              piece, [&](std::uint32_t box) { return layout.boxes[box].rect.overlaps(piece); }))
        return fmt::format("edge {} crosses a box", e);
    }
  }
  return {};
}

std::string stub_faults(const GraphLayout& layout) {
  std::vector<int> ends(layout.edges.size(), 0);
  for (std::uint32_t b = 0; b < layout.boxes.size(); ++b)
    for (const Stub& stub : layout.stubs_of(BoxId(b))) {
      if (stub.box != BoxId(b) || !on_border(layout.boxes[b].rect, stub.at))
        return fmt::format("a stub of box {} stands elsewhere", b);
      for (std::uint32_t i = 0; i < stub.edges; ++i) {
        const std::uint32_t edge = layout.stub_edges[stub.first_edge + i];
        const BoxId end = stub.incoming ? layout.edges[edge].to : layout.edges[edge].from;
        if (end != stub.box) return fmt::format("a stub of box {} is of another's edge", b);
        ++ends[edge];
      }
    }
  for (std::uint32_t e = 0; e < ends.size(); ++e)
    if (ends[e] != (layout.edges[e].points == 0 ? 2 : 0))
      return fmt::format("edge {} has {} stubs", e, ends[e]);
  return {};
}

bool same_boxes(const GraphLayout& a, const GraphLayout& b) {
  for (std::size_t i = 0; i < a.boxes.size(); ++i)
    if (!(a.boxes[i].rect == b.boxes[i].rect) || a.boxes[i].node != b.boxes[i].node ||
        a.boxes[i].group != b.boxes[i].group)
      return false;
  return true;
}

}  // namespace

std::string layout_fault(const Scene& scene, const GraphLayout& layout) {
  for (std::uint32_t p = 0; p < scene.nodes.size(); ++p)
    if (!layout.box_of[p].valid()) return fmt::format("node {} has no box", p);
  for (const auto& fault :
       {box_faults(layout), band_faults(layout), route_faults(layout), stub_faults(layout)})
    if (!fault.empty()) return fault;
  return {};
}

bool same_layout(const GraphLayout& a, const GraphLayout& b) {
  return a.boxes.size() == b.boxes.size() && a.edges.size() == b.edges.size() &&
         a.bands.size() == b.bands.size() && a.points == b.points && same_boxes(a, b) &&
         a.edge_order == b.edge_order && a.stub_edges == b.stub_edges;
}

}  // namespace recut::test
