// Which calls run as one kernel: what the fused model of memory and time knows of fusion.
//
//   A group runs as a whole, forward or again. What only its own calls read never reaches memory:
//   it has no storage and moves no bytes (an inner storage). All else that its calls make is
//   written when it runs, and everything that it reads from outside is alive while it runs. It
//   takes one launch, and the longer of its arithmetic and its traffic with the outside.
//
// Views belong to no group: reading a view is reading what stands behind it. The groups come from
// fuse_pointwise.h, or from whoever knows the true kernels of a back end.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/partition/cost.h"
#include "engine/partition/storage_model.h"

namespace recut {

class FusionGroups {
 public:
  static constexpr std::int32_t kAlone = -1;

  // The eager model: every call by itself, priced by node_micros.
  FusionGroups() = default;

  // The fused model. Each group has two calls or more, in the graph's order; no views; all are
  // needed by a result or gradient; none or all need a tangent. Together the groups are convex: no
  // group depends on itself by way of others.
  FusionGroups(const Graph& graph, const StorageModel& storages,
               std::vector<std::vector<NodeId>> groups);

  bool fused() const { return !group_of_.empty(); }
  std::int32_t size() const { return static_cast<std::int32_t>(members_.size()); }

  // The group of a node, or kAlone.
  std::int32_t group(NodeId id) const {
    return id.index < group_of_.size() ? group_of_[id.index] : kAlone;
  }
  std::span<const NodeId> members(std::int32_t group) const { return members_[group]; }

  // Whether a storage never reaches memory.
  bool inner(StorageId storage) const {
    return storage.index < inner_.size() && inner_[storage.index];
  }

 private:
  std::vector<std::vector<NodeId>> members_;
  std::vector<std::int32_t> group_of_;  // by node id
  std::vector<bool> inner_;             // by storage
};

// Microseconds of one run of the kernel that `calls` are: a group, or a call that is alone. In the
// fused model a kernel reads each value from outside once, however many views of it it has, and
// no more of it than there is.
double kernel_micros(const Graph& graph, const StorageModel& storages, const FusionGroups& groups,
                     std::span<const NodeId> calls, const DeviceRates& rates);

}  // namespace recut
