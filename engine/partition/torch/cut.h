// One minimum cut of PyTorch's partitioner: which values to save so that backward can recompute the
// rest, given what may not be recomputed (torch/_functorch/partitioners.py, solve_min_cut).
//
// Every node is two vertices with its price of saving as the capacity between them; uses are
// unbounded edges. What may not be recomputed hangs on the source, what backward needs on the sink.
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

// Values that backward needs, that can't be recomputed and can't be saved: a chain of users.
struct Impossible {
  std::vector<NodeId> chain;
};

// `allowed` (by position, or empty) names nodes that no rule may ban.
std::variant<Cut, Impossible> solve_cut(const Analysis& analysis, const CutOptions& options,
                                        const std::vector<bool>& allowed = {});

// The same network, solved with its way written down: see engine/partition/torch_flow.h.
std::variant<TorchFlow, Impossible> trace_cut(const Analysis& analysis, const CutOptions& options,
                                              std::size_t most_paths);

}  // namespace recut::torch
