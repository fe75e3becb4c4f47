// The calls of nested graphs that the pass inline_regions replaces, and those that it leaves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/ir/graph.h"

namespace recut {

// The most calls that the trips of one loop become.
inline constexpr std::int64_t kMaxUnrolledCalls = 16'384;

// The reason that inline_regions leaves a call of nested graphs as it is; none if it replaces it.
std::optional<std::string> why_not_inlined(const Graph& graph, NodeId call);

// The name of its changes where it computes a branch that the predicate may not take.
inline constexpr std::string_view kBothBranches = "both branches";

// The graph after it, for work that has to come before the other passes: differentiation.
Graph without_region_calls(const Graph& graph);

}  // namespace recut
