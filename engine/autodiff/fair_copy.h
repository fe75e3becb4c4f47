// From a draft to the graph that goes out.
//
// Derivative rules are C++ expressions, and compilers evaluate the operands of one in whatever
// order they like: calls come to be in an order of their own under each. So a sweep writes a draft,
// in a pool of its own, and this writes it out in an order that depends on what the calls are
// alone.
#pragma once

#include <span>
#include <vector>

#include "engine/ir/graph.h"

namespace recut::autodiff {

struct FairCopy {
  Graph graph;
  std::vector<NodeId> images;  // by position in the draft; invalid where nothing needs the node

  NodeId of(const Graph& draft, NodeId id) const {
    return id.valid() ? images[draft.position(id)] : id;
  }
};

// The draft in the pool of `home`, without what nothing needs. What stands before the first of
// `marks` (positions in the draft's order, ascending) stays as it is, under its name. Calls from
// one mark to the next are ordered anew, operands before users and otherwise as they are read from
// their ends, and named by their operators.
FairCopy fair_copy(const Graph& draft, std::span<const std::size_t> marks, const Graph& home);

}  // namespace recut::autodiff
