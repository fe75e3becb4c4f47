#include <vector>

#include "gui/layout/graph_layout.h"

namespace recut::gui::layout {
namespace {

// Boxes that opening a closed group adds.
std::int64_t added_boxes(const Scene& scene, const Group& group) {
  std::int64_t boxes = std::int64_t{group.backward_items} - (group.backward_nodes > 0 ? 2 : 1);
  for (const Item& item : scene.items_of(group).first(group.forward_items)) {
    ++boxes;
    if (item.is_group && scene.groups[item.index].backward_nodes > 0) ++boxes;
  }
  return boxes;
}

std::vector<std::uint32_t> groups_in(const Scene& scene, const std::vector<std::uint32_t>& outer) {
  std::vector<std::uint32_t> inner;
  for (const std::uint32_t g : outer)
    for (const Item& item : scene.items_of(scene.groups[g]))
      if (item.is_group) inner.push_back(item.index);
  return inner;
}

class Opener {
 public:
  Opener(const Scene& scene, std::size_t boxes)
      : scene_(scene), left_(static_cast<std::int64_t>(boxes)) {
    left_ -= added_boxes(scene, scene.groups[0]) + 2;
  }

  Expansion run() && {
    open_levels(groups_in(scene_, {0}));
    return std::move(expansion_);
  }

 private:
  static constexpr std::int64_t kSmall = 24;

  bool holds_groups(const Group& group) const {
    for (const Item& item : scene_.items_of(group))
      if (item.is_group) return true;
    return false;
  }

  // First groups of groups, which show a model's structure: whole levels of them, then one of each
  // kind; then small groups of nodes, one of each kind.
  void open_levels(std::vector<std::uint32_t> level) {
    std::vector<std::uint32_t> leaves;
    bool whole = true;
    while (!level.empty()) {
      std::vector<std::uint32_t> inner;
      std::int64_t added = 0;
      for (const std::uint32_t g : level) {
        if (scene_.groups[g].shelf) continue;
        const bool structure = holds_groups(scene_.groups[g]);
        (structure ? inner : leaves).push_back(g);
        if (structure) added += added_boxes(scene_, scene_.groups[g]);
      }
      whole = whole && added <= left_;
      level = groups_in(scene_, open_some(inner, whole, left_));
    }
    open_some(leaves, false, kSmall);
  }

  // Opens as many as fit, all or one of each kind; returns the opened.
  std::vector<std::uint32_t> open_some(const std::vector<std::uint32_t>& groups, bool all,
                                       std::int64_t most) {
    std::unordered_set<std::uint64_t> seen;
    std::vector<std::uint32_t> opened;
    for (const std::uint32_t g : groups) {
      const Group& group = scene_.groups[g];
      const std::int64_t added = added_boxes(scene_, group);
      if (added > left_ || added > most || (!all && !seen.insert(group.content).second)) continue;
      left_ -= added;
      expansion_.open.insert(group.key);
      opened.push_back(g);
    }
    return opened;
  }

  const Scene& scene_;
  std::int64_t left_;  // boxes
  Expansion expansion_;
};

}  // namespace

Expansion default_expansion(const Scene& scene, std::size_t boxes) {
  return scene.groups.empty() ? Expansion() : Opener(scene, boxes).run();
}

void reveal(const Scene& scene, NodeId node, Expansion& expansion) {
  const std::uint32_t position = scene.find(node);
  if (position == Scene::kNone) return;
  for (GroupId g = scene.nodes[position].group; g.valid(); g = scene.groups[g.index].parent)
    expansion.open.insert(scene.groups[g.index].key);
}

}  // namespace recut::gui::layout
