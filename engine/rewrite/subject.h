// A graph as matchers ask about it: what is alive, who uses what, which values are uniform.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_set>
#include <vector>

#include "engine/ir/aliases.h"
#include "engine/ir/call.h"
#include "engine/ir/graph.h"
#include "engine/rewrite/uniform.h"

namespace recut {

// Dead nodes are no users, and are not matched: a pass may have left them behind.
class Subject {
 public:
  explicit Subject(const Graph& graph);

  const Graph& graph() const { return graph_; }
  bool alive(NodeId id) const { return alive_[graph_.position(id)]; }
  std::span<const NodeId> users(NodeId id) const;
  std::int64_t outputs(NodeId id) const { return outputs_[graph_.position(id)]; }
  bool pinned(NodeId id) const { return pinned_.contains(id); }

  // What holds of a value in all its elements, null where that isn't known. Found out when asked
  // for, and only so far up the graph: most values are asked for by nobody.
  const UniformValue* uniform(NodeId id);

  const Call::TypesOf& types_of() const { return types_of_; }
  const std::function<const UniformValue*(NodeId)>& uniform_of() const { return uniform_of_; }

 private:
  void learn(NodeId id, int depth);
  void count_users();

  const Graph& graph_;
  std::vector<bool> alive_;            // by position, and so are these:
  std::vector<std::int64_t> outputs_;  // how often a value goes out
  std::vector<std::size_t> first_;     // of users_
  std::vector<NodeId> users_;          // distinct, alive, in program order
  PinnedStorages pinned_;
  UniformValues uniform_;
  std::unordered_set<NodeId> learnt_;  // looked up only, never walked
  Call::TypesOf types_of_;
  std::function<const UniformValue*(NodeId)> uniform_of_;
};

}  // namespace recut
