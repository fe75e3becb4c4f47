// Debug bundles of random graphs that have a fault.
#pragma once

#include <cstdint>
#include <string>

#include "engine/ir/graph.h"

namespace recut::test {

// Writes a bundle of the graph below `folder`, and returns lines that say where it is and how to
// run it.
std::string leave_finding(const Graph& graph, std::uint64_t seed, const std::string& problem,
                          const std::string& folder);

}  // namespace recut::test
