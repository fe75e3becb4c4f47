#include "gui/canvas/walk.h"

#include <cmath>

namespace recut::gui {
namespace {

using layout::Box;
using layout::BoxId;
using layout::Point;

struct Offset {
  float along = 0, aside = 0;
};

Offset offset(Point from, Point to, WalkDirection direction) {
  const float dx = to.x - from.x, dy = to.y - from.y;
  switch (direction) {
    case WalkDirection::up:
      return {-dy, dx};
    case WalkDirection::down:
      return {dy, dx};
    case WalkDirection::left:
      return {-dx, dy};
    case WalkDirection::right:
      return {dx, dy};
  }
  return {};
}

}  // namespace

BoxId step(const Picture& picture, BoxId from, WalkDirection direction) {
  const layout::GraphLayout& layout = picture.layout;
  const Box& box = layout.boxes[from.index];
  BoxId best;
  float least = 0;
  const auto consider = [&](BoxId id, float extra) {
    if (!id.valid() || id == from) return;
    const Box& other = layout.boxes[id.index];
    const bool across = direction == WalkDirection::left || direction == WalkDirection::right;
    // Steps up and down stay on their side; steps across lead to the other one.
    if (!across && other.side != box.side && other.side != layout::Side::shelf) return;
    const Offset o = offset(box.rect.centre(), other.rect.centre(), direction);
    if (o.along < 1) return;
    const float cost = o.along + std::abs(o.aside) * (across ? 3.0f : 0.6f) + extra;
    if (best.valid() && cost >= least) return;
    best = id;
    least = cost;
  };
  for (const std::uint32_t e : picture.edges_of(from)) {
    consider(layout.edges[e].from, 0);
    consider(layout.edges[e].to, 0);
  }
  // The partner is a step across, even if nothing is saved between the two.
  consider(box.partner, 1);
  return best;
}

NodeId node_of(const Picture& picture, const Box& box) {
  if (box.node.valid()) return box.node;
  const layout::Scene& scene = *picture.scene;
  const layout::Group& group = scene.groups[box.group.index];
  for (const std::uint32_t p : scene.nodes_of(group))
    if (scene.nodes[p].side == box.side) return scene.nodes[p].node;
  return group.nodes > 0 ? scene.nodes[scene.nodes_of(group).front()].node : NodeId();
}

}  // namespace recut::gui
