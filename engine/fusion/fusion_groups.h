// Fusion groups: the calls that run as one kernel in the fused model of memory and time.
//
//   A group runs as a whole, in forward or as recomputation. A value that only its own calls read
//   never reaches memory: it has no storage and moves no bytes (an inner storage). Its other values
//   are written when it runs, and its inputs are alive while it runs. It costs one launch, and the
//   longer of its arithmetic and its traffic.
//
//   A group may inline calls of other groups (inlining.h): each run computes them first, for itself
//   alone, and then its own calls. A call that all of its readers inline vanishes: no kernel
//   computes it for others.
//
// Views belong to no group: reading a view is reading the storage behind it. The groups come from
// fuse_pointwise.h, or from a back end that knows its true kernels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/ir/storage_model.h"

namespace recut {

class FusionGroups {
 public:
  static constexpr std::int32_t kAlone = -1;

  // The eager model: every call is a kernel, whose cost is node_micros.
  FusionGroups() = default;

  struct Group {
    std::vector<NodeId> members;  // its own calls
    std::vector<NodeId> inlined;  // calls of others that it computes for itself
  };

  // The fused model. Each group has two calls or more, both kinds in the graph's order; no views;
  // all are needed by a result or gradient, and none of its own vanishes; none or all of its own
  // need a tangent, and the inlined ones, element-wise, don't. Together the groups are convex: no
  // group depends on itself by way of others.
  FusionGroups(const Graph& graph, const StorageModel& storages, std::vector<Group> groups);

  bool fused() const { return !group_of_.empty(); }
  std::int32_t size() const { return static_cast<std::int32_t>(calls_.size()); }

  // The group of a node, or kAlone.
  std::int32_t group(NodeId id) const {
    return id.index < group_of_.size() ? group_of_[id.index] : kAlone;
  }
  // The calls that its kernel runs, in order: the inlined ones, then its members.
  std::span<const NodeId> calls(std::int32_t group) const { return calls_[group]; }
  std::span<const NodeId> inlined(std::int32_t group) const {
    return calls(group).first(inlined_[group]);
  }
  std::span<const NodeId> members(std::int32_t group) const {
    return calls(group).subspan(inlined_[group]);
  }
  // Tells whether the kernel of `reader` inlines this call.
  bool inlines(NodeId reader, NodeId call) const;
  // The values that the kernel of a call reads from memory, as operands in order.
  std::vector<NodeId> reads(const Graph& graph, NodeId call) const;

  // Tells whether a needed call is inlined by all of its readers.
  bool vanishes(NodeId id) const { return id.index < vanishes_.size() && vanishes_[id.index]; }

  // Tells whether a storage never reaches memory.
  bool inner(StorageId storage) const {
    return storage.index < inner_.size() && inner_[storage.index];
  }

 private:
  std::vector<bool> made_calls(const Graph& graph) const;  // by position
  void find_vanishing(const Graph& graph, const std::vector<bool>& made);
  void find_inner(const Graph& graph, const StorageModel& storages, const std::vector<bool>& made);

  std::vector<std::vector<NodeId>> calls_;
  std::vector<std::size_t> inlined_;    // how many of them are inlined
  std::vector<std::int32_t> group_of_;  // by node id
  std::vector<bool> vanishes_;          // by node id
  std::vector<bool> inner_;             // by storage
};

}  // namespace recut
