// Smaller dimensions of a graph's tensors, for test-case reduction.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>

#include "engine/ir/graph.h"

namespace recut {

// The lengths above 1 of dimensions of inputs, constants and calls.
std::set<std::int64_t> extents_of(const Graph& graph);

// The graph with each length replaced by `smaller` of it, in types and in the whole numbers of
// arguments; types of calls are inferred. Nothing where a call doesn't fit any more. Arguments that
// only happen to have the length of a dimension change, too: the graph may compute something else.
std::optional<Graph> with_extents(const Graph& graph,
                                  const std::function<std::int64_t(std::int64_t)>& smaller);

}  // namespace recut
