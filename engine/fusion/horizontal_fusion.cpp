#include "engine/fusion/horizontal_fusion.h"

#include <algorithm>
#include <optional>

#include "engine/fusion/row_fusion.h"
#include "engine/ir/aliases.h"

namespace recut {
namespace {

using Index = GroupSet::Index;

// The iteration space of a group whose loops are one nest.
struct LoopSpace {
  Shape shape;
  Strides strides;
  std::optional<RowSpace> rows;  // that it reduces

  bool has_elements_of(const LoopSpace& other) const {
    return shape == other.shape && strides == other.strides;
  }
};

class HorizontalFuser {
 public:
  explicit HorizontalFuser(GroupSet& groups) : groups_(groups), graph_(groups.graph()) {}

  void run() {
    for (const NodeId id : graph_.order()) {
      if (defining_node(graph_, id) != id) continue;
      const auto readers = groups_.readers(id);
      for (std::size_t later = 1; later < readers.size(); ++later)
        for (std::size_t earlier = 0; earlier < later; ++earlier)
          consider(id, readers[earlier], readers[later]);
    }
  }

 private:
  void consider(NodeId shared, NodeId one, NodeId other) {
    if (!groups_.fusible(one) || !groups_.fusible(other)) return;
    Index a = groups_.of(one), b = groups_.of(other);
    if (groups_[b].first < groups_[a].first) std::swap(a, b);
    if (groups_.may_share_a_kernel(a, b) && may_join(shared, a, b)) groups_.join(a, b);
  }

  bool may_join(NodeId shared, Index earlier, Index later) {
    if (groups_.has_result(earlier) || groups_.has_result(later)) return false;
    const std::int64_t elements = element_count(graph_[shared].outputs.front().shape);
    return groups_[earlier].elements == elements && groups_[later].elements == elements &&
           share_loops(earlier, later) && ready(later) < groups_[earlier].last &&
           groups_.within_larger_footprint(earlier, later) &&
           row_kernel(graph_, groups_.members(earlier, later)).form !=
               RowKernel::Form::impossible &&
           !groups_.would_form_cycle(earlier, later);
  }

  bool share_loops(Index a, Index b) const {
    const auto one = loops_of(a), other = loops_of(b);
    if (!one || !other || !one->has_elements_of(*other)) return false;
    if (one->rows.has_value() == other->rows.has_value()) return one->rows == other->rows;
    const RowSpace& rows = one->rows ? *one->rows : *other->rows;
    return has_enough_rows(rows) && rows_lie_together(rows, one->strides);
  }

  // The loops of the group's outputs; nullopt if these need several nests.
  std::optional<LoopSpace> loops_of(Index group) const {
    std::optional<LoopSpace> found;
    for (const NodeId id : groups_[group].members) {
      if (!groups_.leaves(id, group, group)) continue;
      const auto own = loops_of(id);
      if (!own || (found && !found->has_elements_of(*own))) return std::nullopt;
      if (found && found->rows && own->rows && found->rows != own->rows) return std::nullopt;
      if (!found || !found->rows) found = own;
    }
    return found;
  }

  std::optional<LoopSpace> loops_of(NodeId id) const {
    if (!groups_.reduces(id)) {
      const auto& outputs = graph_[id].outputs;
      if (outputs.size() != 1) return std::nullopt;
      return LoopSpace{outputs.front().shape, outputs.front().strides, std::nullopt};
    }
    const auto rows = rows_of(graph_, id);
    if (!rows) return std::nullopt;
    const TensorType& self = graph_.type(graph_[id].operands.front());
    return LoopSpace{self.shape, self.strides, rows};
  }

  // The position of the last call that a group reads; it could run right after that.
  std::size_t ready(Index group) const {
    std::size_t position = 0;
    for (const NodeId id : groups_[group].members)
      for (const NodeId operand : graph_[id].operands) {
        const NodeId maker = defining_node(graph_, operand);
        if (groups_.of(maker) != group) position = std::max(position, graph_.position(maker));
      }
    return position;
  }

  GroupSet& groups_;
  const Graph& graph_;
};

}  // namespace

void fuse_horizontally(GroupSet& groups) { HorizontalFuser(groups).run(); }

}  // namespace recut
