// Node by node rewriting with a log: what most passes are made of.
#pragma once

#include <functional>
#include <optional>

#include "engine/passes/pass.h"

namespace recut {

// The node of the new graph that stands for an old one, and why.
struct Rewrite {
  std::string_view rule;
  NodeId node;
};

// Asked for every call of `from` in order. `arguments` are the old node's, with every operand
// already replaced by its successor in `to`. No answer: the node stays as it is. An answer has to
// differ from that.
using TryRewrite = std::function<std::optional<Rewrite>(Graph& to, NodeId old,
                                                        const std::vector<Argument>& arguments)>;

// Told of every call of `from` and the node that stands for it now, in order.
using Placed = std::function<void(NodeId old, const Graph& to, NodeId successor)>;

PassResult rewrite_nodes(const Graph& from, const TryRewrite& try_rewrite,
                         const Placed& placed = {});

}  // namespace recut
