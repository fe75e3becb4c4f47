// The level of new tangents of a graph.
#pragma once

#include <optional>

#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut::autodiff {

// A dual number has one tangent a level, and levels nest: the given level, or the next one. Fails
// for a level that the graph's signature has, or that lies below one, and names that tangent.
Result<int> free_dual_level(const Graph& graph, std::optional<int> wanted);

}  // namespace recut::autodiff
