#include "engine/fusion/kernel_traffic.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/cost/cost.h"
#include "engine/ir/aliases.h"

namespace recut {
namespace {

// Pairs of the owner of a storage and the value read: all reads from outside, sorted.
std::vector<std::pair<NodeId, NodeId>> reads_of(const Graph& graph, std::span<const NodeId> calls) {
  std::vector<std::pair<NodeId, NodeId>> reads;
  for (const NodeId id : calls)
    for (const NodeId operand : graph[id].operands) {
      const NodeId root = defining_node(graph, operand);
      if (std::find(calls.begin(), calls.end(), root) == calls.end())
        reads.emplace_back(root, operand);
    }
  std::sort(reads.begin(), reads.end());
  reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
  return reads;
}

std::int64_t bytes_written(const Graph& graph, const StorageModel& storages,
                           const FusionGroups& groups, std::span<const NodeId> calls) {
  std::int64_t bytes = 0;
  for (const NodeId id : calls)
    for (const StorageId s : storages.owned(id))
      if (!groups.inner(s) && !groups.inlines(calls.back(), id))
        bytes += byte_size(graph[id].outputs[storages[s].output]);
  return bytes;
}

}  // namespace

std::int64_t kernel_traffic(const Graph& graph, const StorageModel& storages,
                            const FusionGroups& groups, std::span<const NodeId> calls) {
  if (!groups.fused()) return node_traffic(graph, calls.front());
  std::int64_t bytes = bytes_written(graph, storages, groups, calls);
  const auto reads = reads_of(graph, calls);
  for (std::size_t i = 0; i < reads.size();) {
    const NodeId root = reads[i].first;
    std::int64_t viewed = 0;
    for (; i < reads.size() && reads[i].first == root; ++i)
      viewed += value_bytes(graph[reads[i].second]);
    bytes += std::min(viewed, value_bytes(graph[root]));
  }
  return bytes;
}

}  // namespace recut
