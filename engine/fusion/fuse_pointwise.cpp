#include "engine/fusion/fuse_pointwise.h"

#include <algorithm>

#include "engine/fusion/group_set.h"
#include "engine/fusion/horizontal_fusion.h"
#include "engine/fusion/inlining.h"
#include "engine/fusion/row_fusion.h"
#include "engine/ir/aliases.h"

namespace recut {
namespace {

using Index = GroupSet::Index;

// Vertical fusion: joins producers and their consumers. The opening of fuse_pointwise.h has the
// rules; each pass visits the edges of the graph once, and passes repeat until no group joins.
class ProducerFuser {
 public:
  ProducerFuser(GroupSet& groups, Fusion fusion) : groups_(groups), fusion_(fusion) {}

  // One pass over the graph. Tells whether any groups joined.
  bool run() {
    const Graph& graph = groups_.graph();
    bool joined = false;
    for (const NodeId id : graph.order()) {
      if (!groups_.fusible(id)) continue;
      for (const NodeId operand : graph[id].operands) {
        const NodeId producer = defining_node(graph, operand);
        if (groups_.fusible(producer)) joined |= consider(groups_.of(producer), groups_.of(id));
      }
    }
    return joined;
  }

 private:
  bool consider(Index producer, Index consumer) {
    if (!groups_.may_share_a_kernel(producer, consumer) || groups_.has_result(producer) ||
        !may_join(producer, consumer))
      return false;
    groups_.join(producer, consumer);
    return true;
  }

  bool may_join(Index producer, Index consumer) {
    const GroupSet::Group &a = groups_[producer], &b = groups_[consumer];
    const bool closed = std::none_of(a.members.begin(), a.members.end(), [&](NodeId id) {
      return groups_.leaves(id, producer, consumer);
    });
    const RowKernel rows = row_kernel(groups_.graph(), groups_.members(producer, consumer));
    if (rows.form == RowKernel::Form::impossible) return false;
    const bool continues = rows.form == RowKernel::Form::continues;
    if (continues && !may_continue(rows, producer, consumer)) return false;
    const bool same_space =
        a.elements == b.elements || (continues && runs_over(a, rows) && runs_over(b, rows));
    if (!closed && (!same_space || groups_.has_result(consumer))) return false;
    if (groups_.footprint(producer, consumer) > GroupSet::with_slack(groups_.largest_footprint()))
      return false;
    return !groups_.would_form_cycle(producer, consumer);
  }

  static bool runs_over(const GroupSet::Group& group, const RowKernel& rows) {
    return group.elements == rows.space.rows() || group.elements == element_count(rows.space.shape);
  }

  // True if kernels go that far, rows lie together, and enough of them, and nothing makes plans
  // worse.
  bool may_continue(const RowKernel& rows, Index a, Index b) const {
    if (fusion_ != Fusion::rows || !has_enough_rows(rows.space) || !lie_together(rows) ||
        !groups_.within_larger_footprint(a, b))
      return false;
    return groups_.part(a) == GroupSet::Part::needs_tangent ||
           std::none_of(rows.behind.begin(), rows.behind.end(),
                        [&](NodeId reader) { return reads_what_is_written(reader, rows, a, b); });
  }

  // True if a call behind a reduction reads elements from before it that leave the kernel.
  bool reads_what_is_written(NodeId reader, const RowKernel& rows, Index a, Index b) const {
    const Graph& graph = groups_.graph();
    const auto& operands = graph[reader].operands;
    return std::any_of(operands.begin(), operands.end(), [&](NodeId operand) {
      const NodeId maker = defining_node(graph, operand);
      return groups_.within(maker, a, b) && !rows.is_behind(maker) && !groups_.reduces(maker) &&
             groups_.leaves(maker, a, b) &&
             groups_.iterations(maker) == element_count(rows.space.shape);
    });
  }

  bool lie_together(const RowKernel& rows) const {
    const Graph& graph = groups_.graph();
    return rows_lie_together(rows.space, graph.type(graph[rows.first].operands.front()).strides);
  }

  GroupSet& groups_;
  const Fusion fusion_;
};

}  // namespace

const char* name_of(Fusion fusion) {
  switch (fusion) {
    case Fusion::none:
      return "none";
    case Fusion::chains:
      return "chains";
    case Fusion::rows:
      return "rows";
  }
  return "";
}

FusionGroups fuse_pointwise(const Graph& graph, const StorageModel& storages, Fusion fusion,
                            std::span<const NodeId> standalone) {
  if (fusion == Fusion::none) return {};
  GroupSet groups(graph, storages);
  ProducerFuser producers(groups, fusion);
  if (fusion == Fusion::chains) {
    producers.run();
  } else {
    // Fusing two groups may allow another fusion. So may inlining, which removes a group's read. So
    // both repeat until nothing changes.
    do {
      while (producers.run()) continue;
      inline_cheap_calls(groups, standalone);
    } while (producers.run());
    fuse_horizontally(groups);
  }
  inline_cheap_calls(groups, standalone);
  return std::move(groups).finish();
}

}  // namespace recut
