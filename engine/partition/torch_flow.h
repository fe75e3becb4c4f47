// The network behind strategy torch, and how its minimum cut is found: for people to look at.
//
// The source is whatever may not be run a second time: inputs, and calls that the rules ban, such
// as matrix products. The sink is backward. Between the two, a node can carry as much flow as
// saving it costs; what a node makes flows on to all who read it, without bound. A plan has to save
// enough to cut every path from the source to the sink, and the cheapest way of doing so costs
// exactly as much as the largest flow (Ford and Fulkerson 1956).
//
// The price of saving is in bytes, weighted as PyTorch does it: more the farther from backward a
// value is made, and twice that where saving it would be the only reason to write it to memory.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut {

// One node of the network: a call or an input that doesn't depend on a tangent.
struct TorchFlowNode {
  NodeId node;
  std::int64_t price = 0;    // of saving it; -1: it can't be saved itself
  bool wanted = false;       // backward reads it
  std::string_view why_not;  // why it may not be run again: it hangs on the source; "" else
};

// What one path sends from the source to the sink.
struct TorchFlowPath {
  struct Stop {
    NodeId node;
    bool through = false;   // the amount uses up so much of its price
    bool returned = false;  // or gives it back, where the path goes against an earlier one
  };
  std::vector<Stop> stops;  // in the order in which the path comes to them
  std::int64_t amount = 0;
};

struct TorchFlow {
  std::vector<TorchFlowNode> nodes;  // in the graph's order
  std::vector<TorchFlowPath> paths;  // the first of them, at most as many as were asked for
  std::size_t found = 0;             // all of them
  std::int64_t capacity = 0;         // of the cut: what all paths send together
  std::vector<NodeId> saved;         // the nodes in the cut, in the graph's order
  std::vector<NodeId> beyond;        // on the sink's side: made again from what is saved

  bool complete() const { return paths.size() == found; }
};

// Of the cut that decides without a budget (a fraction of 1.0); for smaller ones strategy torch
// solves others. Fails where there is no cut, or nothing runs in backward.
Result<TorchFlow> trace_torch_flow(const Graph& graph, std::size_t most_paths = 64);

}  // namespace recut
