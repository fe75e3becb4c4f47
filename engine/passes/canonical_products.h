// The canonical form of matrix products: mm, addmm and bmm, a part of the pass canonicalize.
#pragma once

#include <optional>
#include <vector>

#include "engine/passes/rewrite_nodes.h"

namespace recut::passes {

// The replacement of a linear layer or a matmul of `from`, with its operands in `to`. None for
// other calls, and for products of vectors and complex numbers, which keep their call.
std::optional<Rewrite> canonical_product(const Graph& from, Graph& to, NodeId old,
                                         const std::vector<Argument>& arguments);

}  // namespace recut::passes
