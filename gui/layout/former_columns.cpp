#include "gui/layout/former_columns.h"

#include "gui/layout/columns.h"

namespace recut::gui::layout {

BoxId former_box(const Former& former, NodeId node) {
  if (former.layout == nullptr || former.scene == nullptr || !node.valid()) return {};
  const NodeId old = former.node_of ? former.node_of(node) : node;
  return old.valid() ? former.layout->find(*former.scene, old) : BoxId();
}

FormerColumns::FormerColumns(const Scene& scene, const Former& former)
    : scene_(scene), former_(former) {
  if (former.layout == nullptr || former.scene == nullptr) return;
  for (const Band& band : former.layout->bands)
    groups_[former.scene->groups[band.group.index].key] = {band.forward_column,
                                                           band.backward_column};
  for (const Box& box : former.layout->boxes) {
    if (box.node.valid()) continue;
    Columns& columns = groups_[former.scene->groups[box.group.index].key];
    (box.side == Side::backward ? columns.backward : columns.forward) = box.column;
  }
}

FormerColumns::Columns FormerColumns::of_node(const SceneNode& node) const {
  const BoxId id = former_box(former_, node.node);
  if (!id.valid()) return {};
  const Box& box = former_.layout->boxes[id.index];
  // Boxes of closed or other groups give no order for this group's items.
  if (!box.node.valid() ||
      former_.scene->groups[box.group.index].key != scene_.groups[node.group.index].key)
    return {};
  return node.side == Side::backward ? Columns{ColumnTask::kNoHint, box.column}
                                     : Columns{box.column, ColumnTask::kNoHint};
}

ColumnHints FormerColumns::hints(const Group& group) const {
  ColumnHints hints;
  if (groups_.empty()) return hints;
  bool any = false;
  for (const Item& item : scene_.items_of(group)) {
    Columns columns;
    if (!item.is_group) {
      columns = of_node(scene_.nodes[item.index]);
    } else if (const auto it = groups_.find(scene_.groups[item.index].key); it != groups_.end()) {
      columns = it->second;
    }
    any = any || columns.forward != ColumnTask::kNoHint || columns.backward != ColumnTask::kNoHint;
    hints.forward.push_back(columns.forward);
    hints.backward.push_back(columns.backward);
  }
  return any ? hints : ColumnHints();
}

bool FormerColumns::holds(const ColumnHints& hints, const GroupLayout& layout) const {
  for (std::size_t i = 0; i < layout.items.size(); ++i) {
    if (hints.forward[i] != ColumnTask::kNoHint &&
        hints.forward[i] != layout.items[i].forward_column)
      return false;
    if (hints.backward[i] != ColumnTask::kNoHint &&
        hints.backward[i] != layout.items[i].backward_column)
      return false;
  }
  return true;
}

}  // namespace recut::gui::layout
