#include "engine/workspace/torch_saved.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/partition/plan_from_saved.h"
#include "engine/partition/replay.h"
#include "engine/support/units.h"

namespace recut {

const TorchPartition* own_partition(const GraphFile& file, const Graph& graph) {
  const auto own = std::find_if(file.partitions.begin(), file.partitions.end(),
                                [](const TorchPartition& one) { return !one.budget; });
  if (!file.after_joint_passes || own == file.partitions.end() || own->saved.empty())
    return nullptr;
  const bool of_graph =
      std::all_of(own->saved.begin(), own->saved.end(),
                  [&](const std::string& name) { return graph.find(name).valid(); });
  return of_graph ? &*own : nullptr;
}

std::optional<TorchSaved> torch_saved(const Document& document) {
  const GraphFile& file = document.file.partitioned ? *document.file.partitioned : document.file;
  const TorchPartition* own = own_partition(file, file.graph);
  if (own == nullptr) return std::nullopt;
  const Plan plan = plan_of(file.graph, *own);
  const auto replayed = replay(file.graph, plan);
  if (!replayed) return std::nullopt;
  TorchSaved saved;
  saved.bytes = replayed->saved_bytes;
  saved.values = static_cast<std::int64_t>(plan.saved.size());
  saved.peak_bytes = replayed->peak_bytes;
  saved.storages = std::count_if(replayed->instances.begin(), replayed->instances.end(),
                                 [](const StorageInstance& instance) { return instance.kept; });
  return saved;
}

std::string torch_saved_text(const Document& document) {
  const auto torch = torch_saved(document);
  if (!torch) return "";
  return fmt::format("PyTorch saves {} for backward by this file; its step peaks at {}",
                     format_bytes(torch->bytes), format_bytes(torch->peak_bytes));
}

}  // namespace recut
