// The columns of nodes and groups in the former layout, which a new layout keeps.
#pragma once

#include <unordered_map>

#include "gui/layout/group_layout.h"

namespace recut::gui::layout {

class FormerColumns {
 public:
  FormerColumns(const Scene& scene, const Former& former);

  // The columns that a group's items are to keep; empty lists if none of them was in the former
  // layout.
  ColumnHints hints(const Group& group) const;
  // True if a layout keeps them all.
  bool holds(const ColumnHints& hints, const GroupLayout& layout) const;

 private:
  struct Columns {
    std::uint32_t forward = 0xffffffff, backward = 0xffffffff;
  };
  Columns of_node(const SceneNode& node) const;

  const Scene& scene_;
  const Former& former_;
  std::unordered_map<std::uint64_t, Columns> groups_;  // by key, closed or open
};

// The box of the anchor in the former layout; invalid if it had none.
BoxId former_box(const Former& former, NodeId node);

}  // namespace recut::gui::layout
