#include "gui/layout/lay_out.h"

#include <algorithm>

#include "gui/layout/boxes.h"
#include "gui/layout/former_columns.h"
#include "gui/layout/inner_layouts.h"
#include "gui/layout/routes.h"

namespace recut::gui::layout {
namespace {

EdgeKind kind_of(const Box& from, const Box& to) {
  if (from.side == Side::shelf) return EdgeKind::parameter;
  if (from.side != to.side) return EdgeKind::saved;
  return from.side == Side::backward ? EdgeKind::gradient : EdgeKind::flow;
}

// The positions of nodes by box, a run for each box.
struct NodesOfBoxes {
  std::vector<std::uint32_t> first, positions;

  explicit NodesOfBoxes(const GraphLayout& layout)
      : first(layout.boxes.size() + 1, 0), positions(layout.box_of.size()) {
    for (const BoxId box : layout.box_of)
      if (box.valid()) ++first[box.index + 1];
    for (std::size_t b = 1; b < first.size(); ++b) first[b] += first[b - 1];
    std::vector<std::uint32_t> next = first;
    for (std::uint32_t p = 0; p < layout.box_of.size(); ++p)
      if (layout.box_of[p].valid()) positions[next[layout.box_of[p].index]++] = p;
  }
};

std::uint8_t width_class_of(std::int64_t bytes) {
  std::uint8_t width = 0;
  for (std::int64_t limit = 1024; width < 7 && bytes >= limit; limit *= 16) ++width;
  return width;
}

// Gathers the edges of nodes to edges between boxes, by the box that they lead to. No edge leads
// from a box to itself.
void gather_edges(const Scene& scene, GraphLayout& out) {
  const NodesOfBoxes nodes(out);
  constexpr std::uint32_t kNone = Scene::kNone;
  std::vector<std::uint32_t> edge_from(out.boxes.size(), kNone);  // of the current box, by source
  std::vector<std::uint32_t> counted(scene.nodes.size(),
                                     kNone);  // the box that a value was added to
  for (std::uint32_t to = 0; to < out.boxes.size(); ++to) {
    const std::size_t first = out.edges.size();
    for (std::uint32_t i = nodes.first[to]; i < nodes.first[to + 1]; ++i)
      for (const std::uint32_t value : scene.operands_of(nodes.positions[i])) {
        const BoxId from = out.box_of[value];
        if (!from.valid() || from.index == to || counted[value] == to) continue;
        counted[value] = to;
        if (edge_from[from.index] == kNone) {
          edge_from[from.index] = static_cast<std::uint32_t>(out.edges.size());
          Edge edge;
          edge.from = from;
          edge.to = BoxId(to);
          edge.kind = kind_of(out.boxes[from.index], out.boxes[to]);
          edge.values = 0;
          out.edges.push_back(edge);
        }
        Edge& edge = out.edges[edge_from[from.index]];
        ++edge.values;
        edge.bytes += scene.nodes[value].bytes;
      }
    for (std::size_t e = first; e < out.edges.size(); ++e) {
      edge_from[out.edges[e].from.index] = kNone;
      out.edges[e].width_class = width_class_of(out.edges[e].bytes);
    }
  }
}

Point anchor_shift(const Scene& scene, const LayoutOptions& options, const GraphLayout& layout) {
  const BoxId before = former_box(options.former, options.anchor);
  const BoxId now = options.anchor.valid() ? layout.find(scene, options.anchor) : BoxId();
  if (!before.valid() || !now.valid()) return {};
  const Rect& from = layout.boxes[now.index].rect;
  const Rect& to = options.former.layout->boxes[before.index].rect;
  return {to.left - from.left, to.top - from.top};
}

}  // namespace

std::optional<GraphLayout> lay_out(const Scene& scene, const Expansion& expansion,
                                   LayoutCache& cache, const LayoutOptions& options) {
  Stopper stop(options.stop);
  cache.store().begin_call();
  const auto inner = inner_layouts(scene, expansion, options, cache.store(), stop);
  if (!inner) return std::nullopt;
  GraphLayout layout;
  place_boxes(scene, *inner, layout);
  std::vector<Rect> rects;
  rects.reserve(layout.boxes.size());
  for (const Box& box : layout.boxes) rects.push_back(box.rect);
  layout.grid = Grid(rects, layout.bounds);
  gather_edges(scene, layout);
  if (stop(layout.edges.size()) || !find_routes(layout, stop)) return std::nullopt;
  make_stubs(layout);
  layout.anchor_shift = anchor_shift(scene, options, layout);
  return layout;
}

}  // namespace recut::gui::layout
