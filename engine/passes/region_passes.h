// Passes on nested graphs that stay in a graph: bodies of loops whose trips depend on data, and of
// loops with too many trips. A pass itself never looks into them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/passes/pass.h"

namespace recut {

// A run of a pass on one nested graph.
struct RegionPass {
  std::string region;  // "body", or "body/yes" for a nested graph of that
  Graph before;
  PassResult result;  // its graph has the nested graphs from before
};

// Runs a pass on the nested graphs that calls name, and on theirs, and adds each run. Returns the
// graph's nested graphs after that; null where none changed. Nested graphs for the scores of
// attention stay: they are computed one number at a time.
std::shared_ptr<const Regions> run_in_regions(const Pass& pass, const Graph& graph,
                                              std::vector<RegionPass>& runs);

// The graph with these nested graphs. The workspace of a call follows the memory that its nested
// graphs take.
Graph with_regions(const Graph& graph, std::shared_ptr<const Regions> regions);

}  // namespace recut
