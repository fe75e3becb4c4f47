#include "engine/partition/fusion/fusion_groups.h"

#include <algorithm>
#include <utility>

#include "engine/partition/execution.h"
#include "engine/support/check.h"

namespace recut {
namespace {

constexpr std::int32_t kUnread = -2;
constexpr std::int32_t kManyReaders = -3;

bool is_call(const Graph& graph, NodeId id) {
  return !graph.op(id).is(kInput) && maker_of(graph, id) == id;
}

}  // namespace

FusionGroups::FusionGroups(const Graph& graph, const StorageModel& storages,
                           std::vector<std::vector<NodeId>> groups)
    : members_(std::move(groups)), group_of_(graph.pool().size() + 1, kAlone) {
  for (std::int32_t g = 0; g < size(); ++g)
    for (const NodeId id : members_[g]) {
      RECUT_CHECK(is_call(graph, id) && group(id) == kAlone, "groups are of calls, and disjoint");
      group_of_[id.index] = g;
    }

  // A storage is inner where its readers are of one group, its owner's, and nothing returns it.
  const std::vector<NodeId> goals = goals_of(graph);
  const std::vector<bool> needed = needed_nodes(graph, goals);
  std::vector<std::int32_t> reader(storages.size(), kUnread);
  const auto read = [&](NodeId value, std::int32_t by) {
    for (const StorageId s : storages.behind(value)) {
      std::int32_t& known = reader[s.index];
      known = known == kUnread || known == by ? by : kManyReaders;
    }
  };
  for (const NodeId id : graph.order())
    if (needed[graph.position(id)] && is_call(graph, id))
      for (const NodeId operand : graph[id].operands) read(operand, group(id));
  for (const NodeId id : goals) read(id, kManyReaders);
  inner_.assign(storages.size(), false);
  for (std::size_t s = 0; s < inner_.size(); ++s)
    inner_[s] = reader[s] >= 0 && reader[s] == group(storages[StorageId(s)].owner);
}

double kernel_micros(const Graph& graph, const StorageModel& storages, const FusionGroups& groups,
                     std::span<const NodeId> calls, const DeviceRates& rates) {
  if (!groups.fused()) return node_micros(graph, calls.front(), rates);
  if (calls.size() == 1) {
    if (const auto measured = measured_micros(graph, calls.front(), rates)) return *measured;
    if (graph[calls.front()].op == Op::convolution_backward)  // a kernel for each product
      return node_micros(graph, calls.front(), rates);
  }
  double computing = 0;
  std::int64_t bytes = 0;
  std::vector<std::pair<NodeId, NodeId>> reads;  // what stands behind a value, and the value
  for (const NodeId id : calls) {
    computing += node_computing(graph, id, rates);
    for (const StorageId s : storages.owned(id))
      if (!groups.inner(s)) bytes += byte_size(graph[id].outputs[storages[s].output]);
    for (const NodeId operand : graph[id].operands) {
      const NodeId root = maker_of(graph, operand);
      if (std::find(calls.begin(), calls.end(), root) == calls.end())
        reads.emplace_back(root, operand);
    }
  }
  std::sort(reads.begin(), reads.end());
  reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
  for (std::size_t i = 0; i < reads.size();) {
    const NodeId root = reads[i].first;
    std::int64_t viewed = 0;
    for (; i < reads.size() && reads[i].first == root; ++i)
      viewed += value_bytes(graph[reads[i].second]);
    bytes += std::min(viewed, value_bytes(graph[root]));
  }
  return rates.launch_micros +
         1e6 * std::max(computing, static_cast<double>(bytes) / rates.bytes_per_second);
}

}  // namespace recut
