// Alias analysis: it tells which values share a storage, and when a pass may move a value to
// another storage unobserved. storage_model.h counts the bytes.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

// The call or input that a value originates from: views are looked through, other values are their
// own.
NodeId defining_node(const Graph& graph, NodeId id);

// The node whose storage `id` is a view of; itself where it owns its bytes. One output of an
// operator that has several owns its own, which defining_node() takes for the operator's.
NodeId storage_root(const Graph& graph, NodeId id);

// Storages that live as_strided and as_strided_scatter calls read by their recorded layout, beyond
// the operand's shape. A value in such a storage must stay in it, or these calls would read other
// bytes.
class PinnedStorages {
 public:
  explicit PinnedStorages(const Graph& graph);
  bool contains(NodeId id) const {
    return !roots_.empty() && roots_.count(storage_root(*graph_, id)) != 0;
  }

 private:
  const Graph* graph_;
  std::unordered_set<NodeId> roots_;
};

// Keeps outputs from aliasing inputs or each other while a pass replaces nodes: a caller that
// writes into a result must not thereby change an argument or another result. (Inductor's
// remove_noop_ops holds to the same two rules.)
class OutputStorages {
 public:
  explicit OutputStorages(const Graph& from);

  // True if `successor`, a node of `to`, may replace `old`.
  bool may_become(NodeId old, const Graph& to, NodeId successor) const;

  // The pass calls this for every replacement and every node that stays, in order.
  void record(NodeId old, const Graph& to, NodeId successor);

 private:
  enum Mark : std::uint8_t { kOutput = 1, kOutputStorage = 2 };

  // The marks of a node; grows the list where it is too short.
  static std::uint8_t& marks(std::vector<std::uint8_t>& list, NodeId id);
  static bool has(const std::vector<std::uint8_t>& list, NodeId id, Mark mark);

  const Graph* from_;
  std::vector<NodeId> roots_;          // by position in `from`: the storage
  std::vector<std::uint8_t> outputs_;  // by node: outputs of `from`, and their storages
  std::vector<std::uint8_t> taken_;    // the same of the new graph, so far
};

}  // namespace recut
