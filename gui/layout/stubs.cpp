#include <algorithm>

#include "gui/layout/routes.h"

namespace recut::gui::layout {
namespace {

// The positions of the stubs of a kind and direction on a box.
Stub stub_at(const GraphLayout& layout, BoxId id, bool incoming, EdgeKind kind) {
  const Box& box = layout.boxes[id.index];
  const bool backward = box.side == Side::backward;
  const Point centre = box.rect.centre();
  Stub stub;
  stub.box = id;
  stub.incoming = incoming;
  stub.kind = kind;
  const bool sideways =
      kind == EdgeKind::saved || (kind == EdgeKind::parameter && box.side != Side::shelf);
  if (sideways) {
    // Stubs of saved values point towards the channel, stubs of parameters away from it.
    const bool right = (kind == EdgeKind::saved) != backward;
    stub.at = {right ? box.rect.right : box.rect.left, centre.y + (incoming ? 7.0f : -7.0f)};
    stub.direction = {right ? 1.0f : -1.0f, 0};
    return stub;
  }
  const bool down = incoming == backward;
  stub.at = {centre.x + (incoming ? -72.0f : 72.0f), down ? box.rect.bottom : box.rect.top};
  stub.direction = {0, down ? 1.0f : -1.0f};
  return stub;
}

}  // namespace

void make_stubs(GraphLayout& out) {
  struct End {
    std::uint32_t box, edge;
    bool incoming;
  };
  std::vector<std::uint32_t> first(out.boxes.size() + 1, 0);
  const auto each = [&](auto&& visit) {
    for (std::uint32_t e = 0; e < out.edges.size(); ++e) {
      if (out.edges[e].points > 0) continue;
      visit(End{out.edges[e].from.index, e, false});
      visit(End{out.edges[e].to.index, e, true});
    }
  };
  each([&](const End& end) { ++first[end.box + 1]; });
  for (std::size_t b = 1; b < first.size(); ++b) first[b] += first[b - 1];
  std::vector<End> ends(first.back());
  std::vector<std::uint32_t> next = first;
  each([&](const End& end) { ends[next[end.box]++] = end; });
  const auto order = [&](const End& end) {
    return static_cast<int>(out.edges[end.edge].kind) * 2 + (end.incoming ? 1 : 0);
  };
  out.first_stub = {0};
  out.first_stub.reserve(out.boxes.size() + 1);
  for (std::uint32_t b = 0; b < out.boxes.size(); ++b) {
    const auto begin = ends.begin() + first[b], end = ends.begin() + first[b + 1];
    std::stable_sort(begin, end, [&](const End& x, const End& y) { return order(x) < order(y); });
    for (auto it = begin; it != end; ++it) {
      if (it == begin || order(*it) != order(*(it - 1))) {
        out.stubs.push_back(stub_at(out, BoxId(b), it->incoming, out.edges[it->edge].kind));
        out.stubs.back().first_edge = static_cast<std::uint32_t>(out.stub_edges.size());
      }
      ++out.stubs.back().edges;
      out.stub_edges.push_back(it->edge);
    }
    out.first_stub.push_back(static_cast<std::uint32_t>(out.stubs.size()));
  }
}

}  // namespace recut::gui::layout
