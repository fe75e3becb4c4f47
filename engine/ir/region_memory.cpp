#include "engine/ir/region_memory.h"

#include <algorithm>
#include <vector>

#include "engine/ir/region_call.h"
#include "engine/ir/storage_model.h"

namespace recut {

std::int64_t region_bytes(const Graph& region) {
  const StorageModel storages(region);
  std::vector<std::size_t> last_use(storages.size(), 0);
  std::vector<bool> is_result(storages.size(), false);
  const auto order = region.order();
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (const StorageId storage : storages.owned(order[at])) last_use[storage.index] = at;
    for (const NodeId operand : region[order[at]].operands)
      for (const StorageId storage : storages.storages_of(operand)) last_use[storage.index] = at;
  }
  for (const NodeId id : region.results)
    if (id.valid())
      for (const StorageId storage : storages.storages_of(id)) is_result[storage.index] = true;

  std::vector<std::int64_t> freed_after(order.size(), 0);
  std::int64_t alive = 0, most = 0;
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (const StorageId storage : storages.owned(order[at])) {
      if (is_result[storage.index]) continue;
      alive += storages[storage].bytes;
      freed_after[last_use[storage.index]] += storages[storage].bytes;
    }
    const auto workspace = storages.workspace(order[at]);
    most = std::max(most, alive + (workspace ? storages[*workspace].bytes : 0));
    alive -= freed_after[at];
  }
  return most;
}

std::int64_t region_bytes(const Graph& graph, NodeId call) {
  std::int64_t most = 0;
  for (const std::string_view name : named_regions(graph, call))
    most = std::max(most, region_bytes(*graph.region(name)));
  return most;
}

}  // namespace recut
