#include "gui/canvas/pane_link.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace recut::gui {
namespace {

constexpr std::size_t kTries = 16;  // nodes of a closed group that are asked for a partner

// The follower's box for one of the leader's; invalid where it has none.
layout::BoxId box_for(const LinkedCanvas& leader, const Canvas& follower, const layout::Box& box) {
  const auto partner_box = [&](NodeId node) {
    const NodeId partner = leader.side->partner(node);
    return partner.valid() ? follower.picture->box(partner) : layout::BoxId();
  };
  if (box.node.valid()) return partner_box(box.node);
  const layout::Scene& scene = *leader.canvas.picture->scene;
  std::size_t tries = 0;
  for (const std::uint32_t p : scene.nodes_of(scene.groups[box.group.index])) {
    if (scene.nodes[p].side != box.side) continue;
    if (const layout::BoxId found = partner_box(scene.nodes[p].node); found.valid()) return found;
    if (++tries == kTries) break;
  }
  return {};
}

layout::Point offset_to(const layout::Box& box, const Canvas& follower, layout::BoxId other) {
  const layout::Point here = box.rect.centre();
  const layout::Point there = follower.picture->layout.boxes[other.index].rect.centre();
  return {there.x - here.x, there.y - here.y};
}

}  // namespace

std::optional<layout::Point> offset_between(const LinkedCanvas& leader, const Canvas& follower,
                                            ImVec2 near) {
  const Picture& picture = *leader.canvas.picture;
  // The camera's target, not its position in flight.
  const View goal(leader.canvas.area, leader.canvas.camera, leader.canvas.scale);
  layout::Point point = goal.under(near);
  const layout::BoxId box =
      leader.selected.valid() ? picture.box(leader.selected) : layout::BoxId();
  if (box.valid() && picture.layout.boxes[box.index].rect.touches(goal.visible())) {
    const layout::Box& selected = picture.layout.boxes[box.index];
    const NodeId partner = leader.side->partner(leader.selected);
    const layout::BoxId other = partner.valid() ? follower.picture->box(partner) : layout::BoxId();
    if (other.valid()) return offset_to(selected, follower, other);
    point = selected.rect.centre();
  }
  std::optional<layout::Point> nearest;
  float least = 0;
  for (const layout::Box& one : picture.layout.boxes) {
    if (one.side == layout::Side::shelf) continue;
    const layout::Point c = one.rect.centre();
    const float away = std::abs(c.x - point.x) + std::abs(c.y - point.y);
    if (nearest && away >= least) continue;
    const layout::BoxId other = box_for(leader, follower, one);
    if (!other.valid()) continue;
    // One in another column may be invisible there.
    const layout::Point offset = offset_to(one, follower, other);
    if (nearest && away + std::abs(offset.x) >= least) continue;
    nearest = layout::Point{0, offset.y};
    least = away + std::abs(offset.x);
  }
  return nearest;
}

void PaneLink::share_groups(Canvas& here, Canvas& there, const Comparison* comparison) {
  const auto hand_on = [](const Canvas& from, Canvas& to, NodeId anchor) {
    if (!from.expansion) return;
    to.expansion = from.expansion;
    ++to.expansion_changes;
    to.anchor = anchor;
  };
  const auto partner = [&](const ComparedSide& side, NodeId node) { return side.partner(node); };
  if (here.expansion_changes != here_.expansion || !there.expansion) {
    hand_on(here, there, comparison ? partner(comparison->here, here.anchor) : NodeId());
  } else if (there.expansion_changes != there_.expansion) {
    hand_on(there, here, comparison ? partner(comparison->there, there.anchor) : NodeId());
  }
  here_.expansion = here.expansion_changes;
  there_.expansion = there.expansion_changes;
  if (here.focus == focus_ || (here.focus.node.valid() && comparison == nullptr)) return;
  focus_ = here.focus;
  there.focus = {comparison ? comparison->here.partner(focus_.node) : NodeId(), focus_.radius};
}

void PaneLink::find_leader(const LinkedCanvas& here, const LinkedCanvas& there,
                           int selections_there) {
  if (here.canvas.moves != here_.moves || here.selected != here_.selected) leader_ = Pane::here;
  if (there.canvas.moves != there_.moves || selections_there != selections_there_)
    leader_ = Pane::there;
  here_.moves = here.canvas.moves;
  here_.selected = here.selected;
  there_.moves = there.canvas.moves;
  selections_there_ = selections_there;
}

bool PaneLink::is_stale(const LinkedCanvas& leader, const LinkedCanvas& follower) {
  const bool stale = moves_ != leader.canvas.moves || offset_leader_ != leader_ ||
                     leader_pictures_ != leader.canvas.pictures ||
                     follower_pictures_ != follower.canvas.pictures ||
                     selected_ != leader.selected || side_ != leader.side;
  moves_ = leader.canvas.moves;
  offset_leader_ = leader_;
  leader_pictures_ = leader.canvas.pictures;
  follower_pictures_ = follower.canvas.pictures;
  selected_ = leader.selected;
  side_ = leader.side;
  return stale;
}

void PaneLink::follow(const LinkedCanvas& leader, const LinkedCanvas& follower, ImVec2 pointer,
                      Motion& motion, const std::string& name) {
  const Canvas& from = leader.canvas;
  if (from.picture == nullptr || follower.canvas.picture == nullptr || leader.side == nullptr)
    return;
  const bool by_pointer = flights_ == from.flights && from.area.contains(pointer);
  flights_ = from.flights;
  if (is_stale(leader, follower))
    offset_ = offset_between(leader, follower.canvas, by_pointer ? pointer : from.area.centre());
  if (!offset_) return;
  // A new picture has other heights, so offsets from the former one don't hold.
  const std::string key = fmt::format("{} {} {} {}", name, leader_ == Pane::here ? 0 : 1,
                                      from.pictures, follower.canvas.pictures);
  Camera camera = from.at;
  camera.x += motion.ease(key + " x", static_cast<double>(offset_->x));
  camera.y += motion.ease(key + " y", static_cast<double>(offset_->y));
  put(follower.canvas, camera);
}

}  // namespace recut::gui
