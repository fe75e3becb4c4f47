// Nested graphs as code that a graph can hold in place of their calls.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/ir/region_call.h"

namespace recut {

// The reason that a region can't stand in its call's place; none if it can. It may be computed
// several times.
std::optional<std::string> why_not_inlined(const Graph& graph, const Graph& region);

// The reason that a region may not run where its call wouldn't run it: it may fail there.
std::optional<std::string> why_not_untaken(const Graph& region);

// Appends the region's calls on these inputs, and returns its results. Random draws are those of
// this run.
std::vector<NodeId> copy_region(Graph& to, const Graph& region, RegionRunNumber number,
                                std::span<const NodeId> inputs);

}  // namespace recut
