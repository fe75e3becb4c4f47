// Maps each value to the storages that hold it: the static half of the memory model. The dynamic
// half, lifetimes, is replay (engine/partition/replay.h).
//
//   A call owns one storage for each of its outputs that has bytes. A view owns none: it has the
//   storages of its first operand. `getitem` of a call selects that output's storage; `getitem` of
//   a view, which is a part of one storage, has all of them. Inputs, tangents and constants exist
//   before the step and cost nothing, so they have no storage here.
//
//   If the graph has measurements (engine/ir/measurements.h), a storage has the bytes that the
//   allocator takes for it, and a call may have a workspace: a storage that nothing reads, alive
//   while the call runs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/support/ids.h"
#include "engine/support/result.h"

namespace recut {

using StorageId = Id<struct StorageTag>;

class StorageModel {
 public:
  struct Storage {
    NodeId owner;
    std::size_t output = 0;  // of the owner; kWorkspace
    std::int64_t bytes = 0;
  };
  static constexpr std::size_t kWorkspace = SIZE_MAX;

  // `values`: exact sizes without workspaces, ignoring measurements.
  enum class Sizes : std::uint8_t { allocated, values };

  explicit StorageModel(const Graph& graph, Sizes sizes = Sizes::allocated);

  // Storages of a value, in order of their outputs.
  std::span<const StorageId> storages_of(NodeId id) const;

  // Storages that a run of this call allocates, except its workspace.
  std::span<const StorageId> owned(NodeId id) const;

  // The workspace of a call, if it has one.
  std::optional<StorageId> workspace(NodeId id) const;

  const Storage& operator[](StorageId id) const { return storages_[id.index]; }
  std::size_t size() const { return storages_.size(); }

  // Bytes of the distinct storages of some values: the memory that saving those values takes.
  std::int64_t storage_bytes_of(std::span<const NodeId> values) const;

 private:
  void add_workspaces(const Graph& graph);

  std::vector<Storage> storages_;
  // By node id, so that the graph may move: a run of `storage_lists_`. Views mostly repeat their
  // operand's run.
  struct Run {
    std::size_t first = 0, count = 0;
  };
  std::vector<Run> runs_;
  std::vector<StorageId> storage_lists_;
  std::vector<StorageId> workspaces_;  // by node id; empty where there are none
};

// Bytes of all outputs of a node together.
std::int64_t value_bytes(const Node& node);

// Fails if the storages and workspaces of `graph` add up to more than 2^60 bytes. Below that no sum
// over distinct nodes overflows: all byte counts added up here have passed this check.
Result<Done> check_total_bytes(const Graph& graph);

}  // namespace recut
