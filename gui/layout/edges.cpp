#include "gui/layout/edges.h"

#include <algorithm>

namespace recut::gui::layout {
namespace {

EdgeKind kind_of(const Box& from, const Box& to) {
  if (from.side == Side::shelf) return EdgeKind::parameter;
  if (from.side != to.side) return EdgeKind::saved;
  return from.side == Side::backward ? EdgeKind::gradient : EdgeKind::flow;
}

// Positions by box, a run for each.
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

}  // namespace

std::uint8_t width_class_of(std::int64_t bytes) {
  std::uint8_t width = 0;
  for (std::int64_t limit = 1024; width < 7 && bytes >= limit; limit *= 16) ++width;
  return width;
}

void gather_edges(const Scene& scene, GraphLayout& out) {
  const NodesOfBoxes nodes(out);
  constexpr std::uint32_t kNone = Scene::kNone;
  std::vector<std::uint32_t> edge_from(out.boxes.size(), kNone);  // of the box at hand, by source
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

}  // namespace recut::gui::layout
