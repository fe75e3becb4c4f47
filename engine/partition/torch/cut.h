// One minimum cut of PyTorch's partitioner: the values to save so that backward can recompute the
// rest without a banned node (torch/_functorch/partitioners.py, solve_min_cut).
//
// Each node is two vertices, in and out, with its weight as the capacity between them; a use is an
// unbounded edge. The source feeds banned nodes, and values that backward needs drain into the
// sink. The cut in -> out edges are the saved values. Cost: one maximum flow (flow/max_flow.h).
#pragma once

#include <variant>
#include <vector>

#include "engine/partition/torch/analysis.h"
#include "engine/partition/torch/bans.h"
#include "engine/partition/torch_flow.h"

namespace recut::torch {

struct Cut {
  std::vector<NodeId> saved;  // in the graph's order, inputs among them
  std::vector<Ban> bans;      // by position
};

// No finite cut exists: a chain of users from a banned node to backward, none of which can be
// saved. networkx raises NetworkXUnbounded here.
struct InfiniteCut {
  std::vector<NodeId> chain;
};

// `allowed` (by position, or empty) names nodes that no rule may ban.
std::variant<Cut, InfiniteCut> solve_cut(const Analysis& analysis, const CutOptions& options,
                                         const std::vector<bool>& allowed = {});

// Solves the same network and records the augmenting paths: see engine/partition/torch_flow.h.
std::variant<TorchFlow, InfiniteCut> trace_cut(const Analysis& analysis, const CutOptions& options,
                                               std::size_t max_paths);

}  // namespace recut::torch
