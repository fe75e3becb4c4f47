// The subject graph of a match, with its analyses: live nodes, users, and splat values.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_set>
#include <vector>

#include "engine/ir/aliases.h"
#include "engine/ir/call.h"
#include "engine/ir/graph.h"
#include "engine/rewrite/splat_values.h"

namespace recut {

// Dead nodes, which passes may leave behind, are neither users nor matched. Items of external calls
// are alive though nothing reads them: a rule replaces all of a call's values, or none.
class Subject {
 public:
  explicit Subject(const Graph& graph);

  const Graph& graph() const { return graph_; }
  bool alive(NodeId id) const { return alive_[graph_.position(id)]; }
  std::span<const NodeId> users(NodeId id) const;
  std::int64_t outputs(NodeId id) const { return outputs_[graph_.position(id)]; }
  bool pinned(NodeId id) const { return pinned_.contains(id); }

  // The number in every element of a value; null if it is no known splat. The analysis is lazy and
  // of limited depth, since few values are queried.
  const SplatValue* splat(NodeId id);

  const Call::TypesOf& types_of() const { return types_of_; }
  const std::function<const SplatValue*(NodeId)>& splat_of() const { return splat_of_; }

 private:
  void analyze(NodeId id, int depth);
  void count_users();

  const Graph& graph_;
  std::vector<bool> alive_;            // by position, as are the next two
  std::vector<std::int64_t> outputs_;  // how often a value is a result or gradient
  std::vector<std::size_t> first_;     // of the node's users in users_
  std::vector<NodeId> users_;          // distinct, alive, in program order
  PinnedStorages pinned_;
  SplatAnalysis splats_;
  std::unordered_set<NodeId> analyzed_;  // looked up only, never walked
  Call::TypesOf types_of_;
  std::function<const SplatValue*(NodeId)> splat_of_;
};

}  // namespace recut
