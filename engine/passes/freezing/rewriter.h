// What the freezing passes have in common: who uses a node, what is frozen, new calls.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/passes/freezing/frozen_values.h"
#include "engine/passes/rewrite_nodes.h"

namespace recut {

class FreezingRewriter {
 public:
  explicit FreezingRewriter(const Graph& from) : from_(from), users_(from) {}

  // A node of the old graph that only one node uses, and that is no output.
  bool used_once(NodeId old) const;

  bool frozen(const Graph& to, const Argument& argument);

  // A call that has to fit: what was asked of its operands sees to that.
  static NodeId make(Graph& to, Op op, std::vector<Argument> arguments, std::string_view name);

  // The same call with the types, strides above all, of the one that it stands for.
  static NodeId with_types(Graph& to, NodeId id, const Node& old, const std::string& name);

  // One value a channel, in a shape that broadcasts over dimension `dimension` of `rank`.
  static NodeId along(Graph& to, NodeId values, std::int64_t dimension, std::int64_t rank,
                      std::string_view name);

 private:
  const Graph& from_;
  Users users_;
  FrozenValues frozen_;
};

}  // namespace recut
