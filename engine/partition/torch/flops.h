// Floating-point operations as PyTorch counts them (torch/utils/flop_counter.py). Its knapsack
// takes them for the time of recomputing a node.
#pragma once

#include "engine/ir/graph.h"

namespace recut::torch {

// Flops by formula for matrix products, convolutions and attention; 1 for every other operator. In
// double: the knapsack rounds to float32 anyway.
double counted_flops(const Graph& graph, NodeId id);

}  // namespace recut::torch
