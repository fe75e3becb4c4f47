#include <vector>

#include "gui/layout/graph_layout.h"

namespace recut::gui::layout {
namespace {

// Boxes that opening a closed group adds.
std::int64_t added_boxes(const Scene& scene, const Group& group) {
  std::int64_t boxes = group.backward_items - (group.backward_nodes > 0 ? 1 : 0) - 1;
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

}  // namespace

Expansion default_expansion(const Scene& scene, std::size_t boxes) {
  Expansion expansion;
  if (scene.groups.empty()) return expansion;
  const auto limit = static_cast<std::int64_t>(boxes);
  std::int64_t shown = added_boxes(scene, scene.groups[0]) + 2;
  std::vector<std::uint32_t> level = groups_in(scene, {0});
  bool whole = true;  // whether all groups of each level so far are open
  while (!level.empty()) {
    std::int64_t added = 0;
    for (const std::uint32_t g : level)
      if (!scene.groups[g].shelf) added += added_boxes(scene, scene.groups[g]);
    whole = whole && shown + added <= limit;
    std::unordered_set<std::uint64_t> seen;
    std::vector<std::uint32_t> opened;
    for (const std::uint32_t g : level) {
      const Group& group = scene.groups[g];
      if (group.shelf) continue;
      const std::int64_t more = added_boxes(scene, group);
      if (!whole && (shown + more > limit || !seen.insert(group.content).second)) continue;
      shown += more;
      expansion.open.insert(group.key);
      opened.push_back(g);
    }
    level = groups_in(scene, opened);
  }
  return expansion;
}

void reveal(const Scene& scene, NodeId node, Expansion& expansion) {
  const std::uint32_t position = scene.find(node);
  if (position == Scene::kNone) return;
  for (GroupId g = scene.nodes[position].group; g.valid(); g = scene.groups[g.index].parent)
    expansion.open.insert(scene.groups[g.index].key);
}

}  // namespace recut::gui::layout
