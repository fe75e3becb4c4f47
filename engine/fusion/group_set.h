// Fusion groups under construction: their members, reads and writes, and the legality of a join.
// Every node starts as a group of its own. The fusers (fuse_pointwise.h, horizontal_fusion.h,
// inlining.h) decide which groups join.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/fusion/fusion_groups.h"
#include "engine/ir/graph.h"
#include "engine/ir/storage_model.h"

namespace recut {

class GroupSet {
 public:
  using Index = std::size_t;

  // The part of a step that a call belongs to: needed by results, needed by backward only, or
  // itself dependent on a tangent.
  enum class Part : std::uint8_t { unused, forward, backward_only, needs_tangent };

  struct Group {
    std::vector<NodeId> members;
    std::vector<NodeId> inlined;  // calls of others that it computes for itself (inlining.h)
    std::size_t first, last;      // positions
    std::int64_t elements;        // that it runs over
  };

  GroupSet(const Graph& graph, const StorageModel& storages);

  const Graph& graph() const { return graph_; }
  const Group& operator[](Index group) const { return groups_[group]; }
  Index of(NodeId id) const { return group_of_[graph_.position(id)]; }
  Part part(Index group) const { return part(groups_[group].members.front()); }
  // The calls that read this call's value, through views.
  std::span<const NodeId> readers(NodeId id) const { return readers_[graph_.position(id)]; }

  // Tells whether a call is a pure reduction.
  bool reduces(NodeId id) const { return (graph_.op(id).flags & kKinds) == kReduction; }
  // Tells whether a call can share a kernel with others.
  bool fusible(NodeId id) const;
  // The size of its iteration space: the elements of its output, or of its operand if it reduces.
  std::int64_t iterations(NodeId id) const;

  // The members of both, in the graph's order.
  std::vector<NodeId> members(Index a, Index b) const;
  void sort_by_position(std::vector<NodeId>& calls) const;
  bool has_result(Index group) const;
  // Tells whether a call's value is, through views, a result or gradient.
  bool returned(NodeId id) const { return returned_[graph_.position(id)]; }
  bool within(NodeId id, Index a, Index b) const { return of(id) == a || of(id) == b; }
  // Tells whether a call of the two groups has a reader outside them, or is returned.
  bool leaves(NodeId id, Index a, Index b) const;
  // Bytes alive while two groups (or one, passed twice) run as one kernel: its reads and the values
  // that leave it. Inlined calls are not read.
  std::int64_t footprint(Index a, Index b) const;
  // The largest footprint of a single call.
  std::int64_t largest_footprint() const { return largest_footprint_; }
  // These bytes plus a slack, for weights and values of one element a row.
  static std::int64_t with_slack(std::int64_t bytes);
  // Tells whether the joined footprint is at most the larger of both, plus the slack.
  bool within_larger_footprint(Index a, Index b) const;
  // Tells whether a join would form a cycle: one group depends on the other through a third.
  bool would_form_cycle(Index a, Index b) { return reaches(a, b) || reaches(b, a); }

  // The condition common to all joins: the size limit, and one part.
  bool may_share_a_kernel(Index a, Index b) const;

  void inline_into(Index group, std::vector<NodeId> calls);

  // Moves the members and inlined calls of `from` into `into`; `from` is empty afterwards.
  void join(Index from, Index into);

  // The groups of two calls or more, without calls that all of their readers inline.
  FusionGroups finish() &&;

 private:
  FusionGroups kernels() const;
  bool inlines(Index group, NodeId call) const;
  Part part(NodeId id) const { return parts_[graph_.position(id)]; }
  void find_parts();
  void find_readers();
  bool reads_draw(NodeId id) const;
  bool reaches(Index from, Index to);
  bool push_needed(Index reader, std::vector<Index>& stack, Index from);

  const Graph& graph_;
  const StorageModel& storages_;
  std::vector<Part> parts_;                   // by position
  std::vector<bool> returned_, result_;       // by position; through views
  std::vector<std::vector<NodeId>> readers_;  // by position; through views
  std::vector<Index> group_of_;               // by position
  std::vector<Group> groups_;                 // a group that joined another is empty
  std::vector<std::uint32_t> visited_;        // by group: the last search that met it
  std::uint32_t search_ = 0;
  std::int64_t largest_footprint_ = 0;
};

}  // namespace recut
