// The inner layout of one open group, relative to its spine and its top; and the cache of them.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "gui/layout/graph_layout.h"

namespace recut::gui::layout {

// The extent of a side from its spine: outwards, away from the channel, and inwards.
struct Reach {
  float outer = 0, inner = 0;
  bool empty = true;
};

struct ItemPosition {
  float top = 0;
  float forward = 0, backward = 0;  // outwards from the spine to the item's own spine
  std::uint32_t forward_column = 0, backward_column = 0;
};

struct GroupLayout {
  Reach forward, backward;
  float height = 0;
  std::vector<ItemPosition> items;
};

// The columns that items are to keep from a former layout; kNoHint for an item without one.
struct ColumnHints {
  std::vector<std::uint32_t> forward, backward;  // by item; empty: none at all
};

struct LayoutCache::Store {
  struct Entry {
    std::shared_ptr<const GroupLayout> layout;
    std::uint64_t used = 0;  // the last call that did
  };
  std::unordered_map<std::uint64_t, Entry> entries;  // looked up and purged, never walked for more
  std::uint64_t call = 0;

  void begin_call();
};

using OpenLayouts = std::vector<std::shared_ptr<const GroupLayout>>;  // by group; null: closed

// `inner` holds the layouts of the open groups inside.
GroupLayout group_layout(const Scene& scene, const Group& group, const OpenLayouts& inner,
                         const ColumnHints& hints);

}  // namespace recut::gui::layout
