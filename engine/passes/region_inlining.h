// Calls of nested graphs: the passes inline_regions and expand_flex_attention replace them, or
// leave them for a reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/ir/graph.h"

namespace recut {

// The most calls that the trips of one loop become.
inline constexpr std::int64_t kMaxUnrolledCalls = 16'384;

// The reason that they leave a call of nested graphs as it is; none if they replace it.
std::optional<std::string> why_not_inlined(const Graph& graph, NodeId call);

// The name of inline_regions' changes where it computes a branch that the predicate may not take.
inline constexpr std::string_view kBothBranches = "both branches";

// The graph after both, for work that has to come before the other passes: differentiation.
Graph without_region_calls(const Graph& graph);

}  // namespace recut
