// Alias analysis: which values share bytes, and where a pass may move a value to another storage
// without anybody being able to tell. storage_model.h counts the bytes.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

// The call or input that made what stands behind a value: the value itself, but for views.
NodeId maker_of(const Graph& graph, NodeId id);

// The node whose storage `id` is a view of; itself where it owns its bytes. One output of an
// operator that has several owns its own, which maker_of() takes for the operator's.
NodeId storage_root(const Graph& graph, NodeId id);

// Storages that as_strided and as_strided_scatter read by their recorded layout, past the shape:
// a value in one of them keeps its storage, or those would read something else. What nothing needs
// reads nothing.
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

// Keeps what goes out apart from what comes in and from one another while a pass replaces nodes:
// a caller may write into a result and must not find that he wrote into an argument or into
// another result. (Inductor's remove_noop_ops holds to the same two rules.)
class OutputStorages {
 public:
  explicit OutputStorages(const Graph& from);

  // Whether `old` may become `successor`, a node of `to`.
  bool may_become(NodeId old, const Graph& to, NodeId successor) const;

  // To be told of every replacement and of every node that stays, in order.
  void placed(NodeId old, const Graph& to, NodeId successor);

 private:
  enum Mark : std::uint8_t { kOutput = 1, kOutputStorage = 2 };

  // The marks of a node, of which there may be none yet.
  static std::uint8_t& marks(std::vector<std::uint8_t>& list, NodeId id);
  static bool has(const std::vector<std::uint8_t>& list, NodeId id, Mark mark);

  const Graph* from_;
  std::vector<NodeId> roots_;          // by position in `from`: the storage
  std::vector<std::uint8_t> outputs_;  // by node: what goes out of `from`, and their storages
  std::vector<std::uint8_t> taken_;    // the same of the new graph, so far
};

}  // namespace recut
