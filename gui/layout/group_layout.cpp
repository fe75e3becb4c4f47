#include "gui/layout/group_layout.h"

#include <algorithm>

#include "gui/layout/columns.h"
#include "gui/layout/rows.h"

namespace recut::gui::layout {
namespace {

constexpr float kLane = 8;  // the width of a lane for edges that pass several rows
constexpr std::uint32_t kMaxLanes = 4;
// Weight of a node with a partner against others, as gradients flow along the spine.
constexpr std::uint32_t kOnPath = 8;

// One side of a group.
struct SideTask {
  std::vector<std::uint32_t> items;   // of the group, that have a box on this side
  std::vector<std::uint32_t> box_of;  // by item; kNone where it has none
  ColumnTask columns;
};

// Lays out a group from the layouts of the open groups in it: rows of all items, columns of the
// forward side, then of the backward side, whose spine prefers the partners of forward's, and last
// distances and heights. Everything is relative to the group's spine and top, so that equal groups
// share one layout through the cache. A path stands as near to the spine as the paths further in
// allow in its own rows. Linear in items and wires, and in the rows that paths pass.
class GroupBuilder {
 public:
  GroupBuilder(const Scene& scene, const Group& group, const OpenLayouts& inner,
               const ColumnHints& hints)
      : scene_(scene),
        group_(group),
        items_(scene.items_of(group)),
        inner_(inner),
        hints_(hints),
        vertices_(vertices_of(scene, group)),
        rows_(rows_of(scene, group, vertices_)),
        mirrored_(items_.size(), false) {
    for (std::uint32_t i = 0; i < items_.size(); ++i)
      if (vertices_.vertex_of[i] != i) mirrored_[i] = mirrored_[vertices_.vertex_of[i]] = true;
  }

  GroupLayout build() {
    layout_.items.resize(items_.size());
    const std::vector<std::uint32_t> forward = side(false, {});
    side(true, forward);
    heights();
    return std::move(layout_);
  }

 private:
  const GroupLayout* inner_of(std::uint32_t item) const {
    return items_[item].is_group ? inner_[items_[item].index].get() : nullptr;
  }
  bool has_box(std::uint32_t item, bool backward) const {
    if (!items_[item].is_group) return (item >= group_.forward_items) == backward;
    return !backward || scene_.groups[items_[item].index].backward_nodes > 0;
  }
  std::uint32_t weight(std::uint32_t item, bool backward) const {
    if (!items_[item].is_group) return vertices_.floating[item] ? 0 : mirrored_[item] ? kOnPath : 1;
    const Group& inner = scene_.groups[items_[item].index];
    return inner.shelf ? 0 : kOnPath * (backward ? inner.backward_nodes : inner.forward_nodes);
  }
  Reach reach(std::uint32_t item, bool backward) const {
    const GroupLayout* inner = inner_of(item);
    if (inner != nullptr) return backward ? inner->backward : inner->forward;
    return {kBoxWidth / 2, kBoxWidth / 2, false};
  }

  SideTask task(bool backward, const std::vector<std::uint32_t>& forward_columns) const {
    SideTask side;
    side.box_of.assign(items_.size(), Scene::kNone);
    const std::vector<std::uint32_t>& hints = backward ? hints_.backward : hints_.forward;
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
      if (!has_box(i, backward)) continue;
      side.box_of[i] = static_cast<std::uint32_t>(side.items.size());
      side.items.push_back(i);
      side.columns.row.push_back(rows_[i]);
      std::uint32_t w = weight(i, backward);
      // The backward spine follows the forward one where it can.
      const std::uint32_t partner = vertices_.vertex_of[i];
      if (backward && partner < forward_columns.size() && forward_columns[partner] == 0)
        w *= kOnPath;
      side.columns.weight.push_back(w);
      if (!hints.empty()) side.columns.hint.push_back(hints[i]);
    }
    if (group_.shelf) read_from_left(side.columns);
    for (const Wire& wire : scene_.wires_of(group_)) {
      if (wire.backward != backward) continue;
      const std::uint32_t a = side.box_of[wire.from], b = side.box_of[wire.to];
      const std::uint32_t upper = backward ? b : a, lower = backward ? a : b;
      if (side.columns.row[upper] < side.columns.row[lower])
        side.columns.arcs.emplace_back(upper, lower);
    }
    return side;
  }

  // Columns count outwards, which is leftwards: on the shelf the last of a row is the spine's.
  static void read_from_left(ColumnTask& shelf) {
    shelf.hint.clear();
    const auto boxes = static_cast<std::uint32_t>(shelf.row.size());
    const auto first_row =
        static_cast<std::uint32_t>(std::count(shelf.row.begin(), shelf.row.end(), 0u));
    for (std::uint32_t i = 0; i < boxes; ++i) {
      shelf.weight[i] = i + 1 == first_row ? 2 : 1;
      shelf.hint.push_back(first_row - 1 - i % first_row);
    }
  }

  // Places the columns of a side; returns the column of every item.
  std::vector<std::uint32_t> side(bool backward, const std::vector<std::uint32_t>& partners) {
    const SideTask side = task(backward, partners);
    std::vector<std::uint32_t> column_of(items_.size(), Scene::kNone);
    if (side.items.empty()) return column_of;
    const std::vector<Path> paths = paths_of(side.columns);
    const std::vector<float> at = spread(paths, side, backward);
    for (std::size_t p = 0; p < paths.size(); ++p)
      for (const std::uint32_t box : paths[p].boxes) {
        column_of[side.items[box]] = paths[p].column;
        ItemPosition& position = layout_.items[side.items[box]];
        (backward ? position.backward : position.forward) = at[p];
        (backward ? position.backward_column : position.forward_column) = paths[p].column;
      }
    Reach total{kBoxWidth / 2, kBoxWidth / 2, false};
    for (std::size_t p = 0; p < paths.size(); ++p)
      for (const std::uint32_t box : paths[p].boxes) {
        const Reach r = reach(side.items[box], backward);
        total.outer = std::max(total.outer, at[p] + r.outer);
        total.inner = std::max(total.inner, r.inner - at[p]);
      }
    const float frame = group_.parent.valid() ? kPadding : 0;
    total.outer += frame + kLane * static_cast<float>(lanes_for(side.columns));
    total.inner += frame;
    (backward ? layout_.backward : layout_.forward) = total;
    return column_of;
  }

  // The distance of each path from the spine: as near as the paths further in leave room in its own
  // rows.
  std::vector<float> spread(const std::vector<Path>& paths, const SideTask& side,
                            bool backward) const {
    constexpr float kWire = 8;  // room for an edge of a path, where it has no box
    constexpr float kFree = -1;
    std::vector<float> used(paths.empty() ? 0 : *std::max_element(rows_.begin(), rows_.end()) + 1,
                            kFree);  // by row: up to where
    std::vector<float> at;
    for (const Path& path : paths) {
      const auto each_row = [&](auto&& visit) {
        auto box = path.boxes.begin();
        for (std::uint32_t row = path.first; row <= path.last; ++row)
          if (side.columns.row[*box] == row)
            visit(row, reach(side.items[*box++], backward));
          else
            visit(row, Reach{kWire, kWire, false});
      };
      float x = path.column == 0 ? 0 : kBoxWidth + kColumnGap;
      each_row([&](std::uint32_t row, const Reach& r) {
        if (used[row] != kFree) x = std::max(x, used[row] + kColumnGap + r.inner);
      });
      each_row([&](std::uint32_t row, const Reach& r) { used[row] = x + r.outer; });
      at.push_back(x);
    }
    return at;
  }

  // The number of lanes for wires that pass other rows: the most at one row.
  static std::uint32_t lanes_for(const ColumnTask& task) {
    std::vector<std::int32_t> change(
        static_cast<std::size_t>(*std::max_element(task.row.begin(), task.row.end())) + 2, 0);
    for (const auto& [upper, lower] : task.arcs) {
      if (task.row[lower] - task.row[upper] < 2) continue;
      ++change[task.row[upper] + 1];
      --change[task.row[lower]];
    }
    std::int32_t now = 0, most = 0;
    for (const std::int32_t c : change) most = std::max(most, now += c);
    return std::min(kMaxLanes, static_cast<std::uint32_t>(most));
  }

  void heights() {
    std::uint32_t rows = 0;
    for (const std::uint32_t row : rows_) rows = std::max(rows, row + 1);
    std::vector<float> height(rows, kBoxHeight), top(rows, 0);
    for (std::uint32_t i = 0; i < items_.size(); ++i)
      if (const GroupLayout* inner = inner_of(i))
        height[rows_[i]] = std::max(height[rows_[i]], inner->height);
    const bool framed = group_.parent.valid();
    float y = framed ? kHeader : 0;
    for (std::uint32_t row = 0; row < rows; ++row) {
      top[row] = y;
      y += height[row] + (row + 1 < rows ? kRowGap : 0);
    }
    for (std::uint32_t i = 0; i < items_.size(); ++i) layout_.items[i].top = top[rows_[i]];
    layout_.height = y + (framed ? kPadding : 0);
  }

  const Scene& scene_;
  const Group& group_;
  std::span<const Item> items_;
  const OpenLayouts& inner_;
  const ColumnHints& hints_;
  Vertices vertices_;
  std::vector<std::uint32_t> rows_;
  std::vector<bool> mirrored_;  // by item: it shares its row with its partner
  GroupLayout layout_;
};

}  // namespace

GroupLayout group_layout(const Scene& scene, const Group& group, const OpenLayouts& inner,
                         const ColumnHints& hints) {
  return GroupBuilder(scene, group, inner, hints).build();
}

}  // namespace recut::gui::layout
