// Our choice beside PyTorch's on one graph at one budget.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "engine/input/graph_file.h"
#include "engine/partition/plan_from_saved.h"
#include "engine/partition/replay.h"
#include "engine/partition/strategy.h"

namespace recut {

// Distinct storages behind what a plan saves, ascending.
inline std::vector<StorageId> saved_storages(const StorageModel& storages, const Plan& plan) {
  std::vector<StorageId> all;
  for (const NodeId id : plan.saved) {
    const auto behind = storages.storages_of(id);
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
