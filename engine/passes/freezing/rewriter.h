// Common parts of the freezing passes: users of nodes, frozen values, new calls.
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

  // Tells whether a node of the old graph has one user and is no output.
  bool used_once(NodeId old) const;

  bool frozen(const Graph& to, const Argument& argument);

  // Appends a call whose types must fit, as the caller has checked its operands.
  static NodeId make(Graph& to, Op op, std::vector<Argument> arguments, std::string_view name);

  // The same with the types, in particular the strides, of the call that it replaces.
  static NodeId with_types(Graph& to, NodeId id, const Node& old, const std::string& name);

  // A value with one element a channel, reshaped to broadcast along `dimension` of `rank`.
  static NodeId along(Graph& to, NodeId values, std::int64_t dimension, std::int64_t rank,
                      std::string_view name);

 private:
  const Graph& from_;
  Users users_;
  FrozenValues frozen_;
};

}  // namespace recut
