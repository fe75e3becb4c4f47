#include <algorithm>

#include "gui/layout/rows.h"

namespace recut::gui::layout {
namespace {

// The first forward index in an item: groups are runs of consecutive forward nodes.
std::uint32_t first_index(const Scene& scene, Item item) {
  while (item.is_group) {
    const Group& group = scene.groups[item.index];
    if (group.items() == 0) return 0;
    item = scene.items[group.first_item];
  }
  return scene.nodes[item.index].forward_index;
}

// By backward item: its partner, or, where that isn't in the scene, the item before its place.
std::vector<std::uint32_t> partners_in(const Scene& scene, const Group& group) {
  const std::span<const Item> items = scene.items_of(group);
  std::vector<std::uint32_t> beside(items.size(), Scene::kNone), starts;
  for (const Item& item : items.first(group.forward_items))
    starts.push_back(first_index(scene, item));
  for (std::uint32_t b = group.forward_items; b < items.size() && !starts.empty(); ++b) {
    const std::uint32_t index = scene.nodes[items[b].index].forward_index;
    const auto after = std::upper_bound(starts.begin(), starts.end(), index);
    beside[b] =
        after == starts.begin() ? 0 : static_cast<std::uint32_t>(after - starts.begin()) - 1;
  }
  return beside;
}

// Forward nodes that only parameters and constants feed, and backward ones that no gradient does:
// they go to their users. Groups never float.
std::vector<bool> floating_in(const Scene& scene, const Group& group,
                              const std::vector<std::uint32_t>& vertex_of) {
  const std::span<const Item> items = scene.items_of(group);
  std::vector<bool> floating(items.size(), false);
  const auto floats = [&](std::uint32_t i) {
    const SceneNode& node = scene.nodes[items[i].index];
    for (const std::uint32_t q : scene.operands_of(items[i].index)) {
      const SceneNode& operand = scene.nodes[q];
      if (operand.input && operand.side != Side::backward) continue;
      if (node.side == Side::backward && operand.side != Side::backward) continue;
      if (scene.groups[operand.group.index].key != group.key || !floating[operand.item_index])
        return false;
    }
    return !(node.input && node.side == Side::backward);
  };
  std::vector<bool> mirrored(items.size(), false);
  for (std::uint32_t b = group.forward_items; b < items.size(); ++b)
    if (vertex_of[b] != b) mirrored[vertex_of[b]] = true;
  for (std::uint32_t i = 0; i < group.forward_items; ++i)
    floating[i] = !items[i].is_group && !mirrored[i] && !group.shelf && floats(i);
  for (auto b = static_cast<std::uint32_t>(items.size()); b-- > group.forward_items;)
    floating[b] = vertex_of[b] == b && floats(b);
  return floating;
}

}  // namespace

Vertices vertices_of(const Scene& scene, const Group& group) {
  const std::span<const Item> items = scene.items_of(group);
  const auto count = static_cast<std::uint32_t>(items.size());
  Vertices v;
  v.beside = partners_in(scene, group);
  v.vertex_of.resize(count);
  v.above.assign(count, false);
  for (std::uint32_t i = 0; i < count; ++i) v.vertex_of[i] = i;
  std::uint32_t b = group.forward_items;
  if (group.forward_items == 0)
    for (; b < count; ++b) v.order.push_back(b);
  for (std::uint32_t f = 0; f < group.forward_items; ++f) {
    std::uint32_t mirror = b;
    const auto is_mirror = [&](std::uint32_t i) {
      const SceneNode& node = scene.nodes[items[i].index];
      return node.mirrors && !items[f].is_group &&
             node.forward_index == scene.nodes[items[f].index].forward_index;
    };
    while (mirror < count && v.beside[mirror] == f && !is_mirror(mirror)) ++mirror;
    const bool found = mirror < count && v.beside[mirror] == f;
    for (; found && b < mirror; ++b) {
      v.above[b] = true;
      v.order.push_back(b);
    }
    v.order.push_back(f);
    if (found) v.vertex_of[b++] = f;
    for (; b < count && v.beside[b] == f; ++b) v.order.push_back(b);
  }
  v.floating = floating_in(scene, group, v.vertex_of);
  return v;
}

}  // namespace recut::gui::layout
