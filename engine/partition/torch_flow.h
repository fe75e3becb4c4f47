// The flow network of strategy torch, and how its minimum cut is found, for display.
//
// The source feeds every node that may not be recomputed: inputs, and calls that a rule bans, such
// as matrix products. The sink is backward. A node's capacity is its weight, the price of saving
// it; edges to its readers are unbounded. The saved values have to cut every path from the source
// to the sink, and the cheapest such cut costs as much as the largest flow (Ford and Fulkerson
// 1956).
//
// The weight is in bytes, scaled as PyTorch does it (get_node_weight): larger with the distance
// from backward, and doubled where saving is the only reason to write the value to memory.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/partition/torch_options.h"
#include "engine/support/result.h"

namespace recut {

// One node of the network: a call or an input that doesn't depend on a tangent.
struct TorchFlowNode {
  NodeId node;
  std::int64_t weight = 0;          // of saving it; -1: it can't be saved itself
  bool needed_in_backward = false;  // backward reads it
  std::string_view why_not;         // the ban that ties it to the source; "": it may be recomputed
};

// The flow of one augmenting path from the source to the sink.
struct TorchFlowPath {
  struct Stop {
    NodeId node;
    bool through = false;   // the amount uses up that much of its weight
    bool returned = false;  // or gives it back: the path undoes part of an earlier one
  };
  std::vector<Stop> stops;  // in the path's order
  std::int64_t amount = 0;
};

struct TorchFlow {
  std::vector<TorchFlowNode> nodes;  // in the graph's order
  std::vector<TorchFlowPath> paths;  // the first ones, at most the requested number
  std::size_t found = 0;             // how many there are in all
  std::int64_t capacity = 0;         // of the cut: the sum of all paths' amounts
  std::vector<NodeId> saved;         // the nodes in the cut, in the graph's order
  std::vector<NodeId> recomputed;    // on the sink's side: recomputed from the saved values

  bool complete() const { return paths.size() == found; }
};

// Traces the cut for a budget of 1.0; for smaller budgets strategy torch solves further cuts. Fails
// where no finite cut exists, and on a graph without a backward.
Result<TorchFlow> trace_torch_flow(const Graph& graph, const TorchOptions& options = {},
                                   std::size_t max_paths = 64);

}  // namespace recut
