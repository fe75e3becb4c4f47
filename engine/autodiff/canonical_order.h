// Canonical order: writes a draft out in an order that depends only on the calls themselves.
//
// Derivative rules are C++ expressions, whose operands are evaluated in an unspecified order: each
// compiler appends the same calls in another order. A sweep therefore writes a draft in a pool of
// its own, and this gives its nodes one order under every compiler.
#pragma once

#include <span>
#include <vector>

#include "engine/ir/graph.h"

namespace recut::autodiff {

struct CanonicalGraph {
  Graph graph;
  std::vector<NodeId> images;  // by position in the draft; invalid for dead nodes

  NodeId of(const Graph& draft, NodeId id) const {
    return id.valid() ? images[draft.position(id)] : id;
  }
};

// Copies the draft into the pool of `pool_owner`, without dead nodes. `call_starts` are positions
// in the draft's order, ascending. Nodes before the first keep their order and names. The calls
// from one start to the next are reordered: operands before users, in the order of a depth-first
// walk from the calls that no other one of them reads. They are named by their operators.
CanonicalGraph in_canonical_order(const Graph& draft, std::span<const std::size_t> call_starts,
                                  const Graph& pool_owner);

}  // namespace recut::autodiff
