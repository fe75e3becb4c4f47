// Which values share bytes, as passes have to know it: a value may move to another storage only
// where nobody can tell.
#pragma once

#include <unordered_set>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

// The node whose storage `id` is a view of; itself where it owns its bytes. One output of an
// operator that has several owns its own.
NodeId storage_root(const Graph& graph, NodeId id);

// Storages that as_strided and as_strided_scatter read by their recorded layout, past the shape:
// a value in one of them keeps its storage, or those would read something else. What nothing needs
// reads nothing.
class PinnedStorages {
 public:
  explicit PinnedStorages(const Graph& graph);
  bool contains(NodeId id) const { return roots_.count(storage_root(*graph_, id)) != 0; }

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
  const Graph* from_;
  std::unordered_set<NodeId> outputs_;       // of `from`
  std::unordered_set<NodeId> output_roots_;  // their storages
  std::unordered_set<NodeId> taken_;         // the same of the new graph, so far
  std::unordered_set<NodeId> taken_roots_;
};

}  // namespace recut
