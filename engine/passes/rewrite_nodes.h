// Node by node rewriting with a log, the basis of most passes in C++.
#pragma once

#include <functional>
#include <optional>

#include "engine/passes/pass.h"

namespace recut {

// The replacement of a node, and the name of the change.
struct Rewrite {
  std::string_view rule;
  NodeId node;
};

// Called for every call of `from` in order. `arguments` are the old node's, with every operand
// replaced by its successor in `to`. Nullopt keeps the node; a replacement must differ from it.
using TryRewrite = std::function<std::optional<Rewrite>(Graph& to, NodeId old,
                                                        const std::vector<Argument>& arguments)>;

// Called after every call of `from` with its successor, in order.
using OnPlaced = std::function<void(NodeId old, const Graph& to, NodeId successor)>;

PassResult rewrite_nodes(const Graph& from, const TryRewrite& try_rewrite,
                         const OnPlaced& placed = {});

}  // namespace recut
