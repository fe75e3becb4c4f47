// Our choice beside PyTorch's on one graph at one budget.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "engine/input/graph_file.h"
#include "engine/partition/execution.h"
#include "engine/partition/replay.h"
#include "engine/partition/strategy.h"

namespace recut {

// The plan that keeps what the file says PyTorch kept.
inline Plan plan_of(const Graph& graph, const TorchPartition& partition) {
  std::vector<NodeId> saved;
  for (const std::string& name : partition.saved)
    if (const NodeId id = graph.find(name); id.valid()) saved.push_back(id);
  return plan_from_saved(graph, saved);
}

// Distinct storages behind what a plan saves, ascending.
inline std::vector<StorageId> saved_storages(const StorageModel& storages, const Plan& plan) {
  std::vector<StorageId> all;
  for (const NodeId id : plan.saved) {
    const auto behind = storages.behind(id);
    all.insert(all.end(), behind.begin(), behind.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

inline PlanRequest torch_request(const TorchPartition& partition) {
  return {"torch",
          partition.budget ? Budget(SavedFraction{*partition.budget}) : Budget(NoBudget{})};
}

}  // namespace recut
