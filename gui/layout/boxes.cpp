#include "gui/layout/boxes.h"

namespace recut::gui::layout {
namespace {

// The positions of the spines of the two sides of a group, and its top.
struct Corner {
  float forward = 0, backward = 0, top = 0;
};

// Turns relative layouts into absolute positions. Equal groups share one GroupLayout, so positions
// can't be in it: the walk from the root adds each item's offsets to the corner of its group.
//   x of a forward box = corner.forward - item.forward   (backward: +, away from the channel)
// A closed group becomes one box, or two where it has backward nodes, and box_of maps its nodes
// there. Invariant: bands are in preorder, and the boxes directly in a band are contiguous. Each
// group pairs its mirrors through one table that it clears afterwards, so all is linear in nodes
// and groups.
class Placer {
 public:
  Placer(const Scene& scene, const OpenLayouts& layouts, GraphLayout& out)
      : scene_(scene), layouts_(layouts), out_(out) {
    std::uint32_t most = 0;  // a neighbourhood keeps the indices of the whole
    for (const SceneNode& node : scene.nodes) most = std::max(most, node.forward_index);
    by_place_.assign(std::size_t{most} + 1, Scene::kNone);
  }

  void run() {
    out_.box_of.assign(scene_.nodes.size(), BoxId());
    if (scene_.groups.empty() || !layouts_[0]) return;
    const GroupLayout& root = *layouts_[0];
    place(0, {-(kChannel / 2 + root.forward.inner), kChannel / 2 + root.backward.inner, 0}, {});
    for (const Box& box : out_.boxes) out_.bounds = out_.bounds.united(box.rect);
    for (const Band& band : out_.bands)
      out_.bounds = out_.bounds.united(band.forward).united(band.backward);
    out_.bands[0].bounds = out_.bounds;
  }

 private:
  void place(std::uint32_t g, Corner corner, ItemPosition at) {
    const Group& group = scene_.groups[g];
    const GroupLayout& layout = *layouts_[g];
    const auto index = static_cast<std::uint32_t>(out_.bands.size());
    out_.bands.push_back(band_of(group, GroupId(g), layout, corner, at));
    place_own(group, GroupId(g), layout, corner, index);
    const std::span<const Item> items = scene_.items_of(group);
    for (std::uint32_t i = 0; i < group.forward_items; ++i) {
      if (!items[i].is_group || !layouts_[items[i].index]) continue;
      const ItemPosition& item = layout.items[i];
      place(items[i].index,
            {corner.forward - item.forward, corner.backward + item.backward, corner.top + item.top},
            item);
    }
    out_.bands[index].end = static_cast<std::uint32_t>(out_.bands.size());
  }

  static Band band_of(const Group& group, GroupId id, const GroupLayout& layout, Corner corner,
                      const ItemPosition& at) {
    Band band;
    band.group = id;
    band.depth = group.depth;
    band.forward_column = at.forward_column;
    band.backward_column = at.backward_column;
    if (!group.parent.valid()) return band;
    const float bottom = corner.top + layout.height;
    if (!layout.forward.empty)
      band.forward = {corner.forward - layout.forward.outer, corner.top,
                      corner.forward + layout.forward.inner, bottom};
    if (!layout.backward.empty)
      band.backward = {corner.backward - layout.backward.inner, corner.top,
                       corner.backward + layout.backward.outer, bottom};
    band.bounds = band.forward.united(band.backward);
    return band;
  }

  // The boxes directly in a band: its nodes and closed groups.
  void place_own(const Group& group, GroupId id, const GroupLayout& layout, Corner corner,
                 std::uint32_t band) {
    out_.bands[band].first_box = static_cast<std::uint32_t>(out_.boxes.size());
    const std::span<const Item> items = scene_.items_of(group);
    for (std::uint32_t i = 0; i < items.size(); ++i) {
      const ItemPosition& item = layout.items[i];
      const float forward = corner.forward - item.forward;
      const float backward = corner.backward + item.backward;
      const float top = corner.top + item.top;
      if (!items[i].is_group)
        add_node(items[i].index, id, i < group.forward_items ? forward : backward, top,
                 i < group.forward_items ? item.forward_column : item.backward_column);
      else if (!layouts_[items[i].index])
        add_closed(items[i].index, forward, backward, top, item);
    }
    out_.bands[band].boxes =
        static_cast<std::uint32_t>(out_.boxes.size()) - out_.bands[band].first_box;
    pair_mirrors(group, items);
  }

  static Rect rect_at(float centre, float top) {
    return {centre - kBoxWidth / 2, top, centre + kBoxWidth / 2, top + kBoxHeight};
  }

  void add_node(std::uint32_t position, GroupId group, float centre, float top,
                std::uint32_t column) {
    const SceneNode& node = scene_.nodes[position];
    Box box;
    box.rect = rect_at(centre, top);
    box.node = node.node;
    box.group = group;
    box.side = node.side;
    box.role = node.role;
    box.importance = node.role == Role::saved ? 3 : node.weight;
    box.column = column;
    box.bytes = node.bytes;
    out_.box_of[position] = BoxId(out_.boxes.size());
    out_.boxes.push_back(box);
  }

  void add_closed(std::uint32_t g, float forward, float backward, float top,
                  const ItemPosition& position) {
    const Group& group = scene_.groups[g];
    Box box;
    box.rect = rect_at(forward, top);
    box.group = GroupId(g);
    box.side = group.shelf ? Side::shelf : Side::forward;
    box.importance = 3;
    box.column = position.forward_column;
    box.nodes = group.forward_nodes;
    const BoxId first(out_.boxes.size());
    BoxId second;
    if (group.backward_nodes > 0) {
      second = BoxId(out_.boxes.size() + 1);
      box.partner = second;
    }
    out_.boxes.push_back(box);
    if (second.valid()) {
      box.rect = rect_at(backward, top);
      box.side = Side::backward;
      box.column = position.backward_column;
      box.nodes = group.backward_nodes;
      box.partner = first;
      out_.boxes.push_back(box);
    }
    for (const std::uint32_t p : scene_.nodes_of(group))
      out_.box_of[p] = scene_.nodes[p].side == Side::backward ? second : first;
  }

  // Backward nodes that mirror one of the group's forward nodes.
  void pair_mirrors(const Group& group, std::span<const Item> items) {
    for (const Item& item : items.first(group.forward_items))
      if (!item.is_group) by_place_[scene_.nodes[item.index].forward_index] = item.index;
    for (const Item& item : items.subspan(group.forward_items)) {
      const SceneNode& node = scene_.nodes[item.index];
      const std::uint32_t partner = by_place_[node.forward_index];
      if (!node.mirrors || partner == Scene::kNone || group.shelf) continue;
      out_.boxes[out_.box_of[item.index].index].partner = out_.box_of[partner];
      out_.boxes[out_.box_of[partner].index].partner = out_.box_of[item.index];
    }
    for (const Item& item : items.first(group.forward_items))
      if (!item.is_group) by_place_[scene_.nodes[item.index].forward_index] = Scene::kNone;
  }

  const Scene& scene_;
  const OpenLayouts& layouts_;
  GraphLayout& out_;
  std::vector<std::uint32_t> by_place_;  // by forward index: the position, while pairing
};

}  // namespace

void place_boxes(const Scene& scene, const OpenLayouts& layouts, GraphLayout& out) {
  Placer(scene, layouts, out).run();
}

}  // namespace recut::gui::layout
