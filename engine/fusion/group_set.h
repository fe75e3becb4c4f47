// Groups of calls while they grow: what is in them, what they read and leave, and whether two may
// run as one kernel. Every node starts as a group of its own; which groups join is for
// fuse_pointwise.h's parts to say.
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

  // What needs a call: results, what only backward needs, or a tangent.
  enum class Part : std::uint8_t { unused, forward, between, late };

  struct Group {
    std::vector<NodeId> members;
    std::vector<NodeId> inlined;  // what it computes again for itself (inlining.h)
    std::size_t first, last;      // positions
    std::int64_t elements;        // that it runs over
  };

  GroupSet(const Graph& graph, const StorageModel& storages);

  const Graph& graph() const { return graph_; }
  const Group& operator[](Index group) const { return groups_[group]; }
  Index of(NodeId id) const { return group_of_[graph_.position(id)]; }
  Part part(Index group) const { return part(groups_[group].members.front()); }
  // The calls that read what this one makes, through views.
  std::span<const NodeId> readers(NodeId id) const { return readers_[graph_.position(id)]; }

  // Folds dimensions and does nothing else.
  bool reduces(NodeId id) const { return (graph_.op(id).flags & kKinds) == kReduction; }
  // Whether it can share a kernel with other calls.
  bool fusible(NodeId id) const;
  // Elements that it runs over: its own, or those that it reduces.
  std::int64_t iterations(NodeId id) const;

  // The members of both, in the graph's order.
  std::vector<NodeId> members(Index a, Index b) const;
  void sort_by_position(std::vector<NodeId>& calls) const;
  bool has_result(Index group) const;
  // Whether a result or gradient shows what a call makes.
  bool returned(NodeId id) const { return returned_[graph_.position(id)]; }
  bool within(NodeId id, Index a, Index b) const { return of(id) == a || of(id) == b; }
  // Whether anything but the two groups reads what a call of theirs makes.
  bool leaves(NodeId id, Index a, Index b) const;
  // Bytes alive while two groups (or twice the same) run as one kernel: what it reads and what
  // leaves it. What either computes again for itself is not read.
  std::int64_t footprint(Index a, Index b) const;
  // The footprint of the call that has the largest.
  std::int64_t largest_footprint() const { return largest_footprint_; }
  // What counts as no more than these bytes: weights and what there is one of a row come on top.
  static std::int64_t little_more(std::int64_t bytes);
  // Whether the two have no more alive as one kernel than the larger of them alone.
  bool hold_no_more(Index a, Index b) const;
  // Whether joined they would need themselves: one needs the other by way of a third group.
  bool depend_around(Index a, Index b) { return reaches(a, b) || reaches(b, a); }

  // What every two have to meet, whatever makes them join.
  bool may_share_a_kernel(Index a, Index b) const;

  void inline_into(Index group, std::vector<NodeId> calls);

  // All of `from` into `into`, and what it computes again; `from` is empty from then on.
  void join(Index from, Index into);

  // Those of two calls or more, without calls that all of their readers compute for themselves.
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
  std::vector<Group> groups_;                 // those that have joined another are empty
  std::vector<std::uint32_t> visited_;        // by group: the last search that met it
  std::uint32_t search_ = 0;
  std::int64_t largest_footprint_ = 0;
};

}  // namespace recut
