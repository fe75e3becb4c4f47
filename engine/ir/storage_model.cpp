// Builds the map from values to storages in one pass over the program order, O(nodes). Storages of
// a value are a run of one shared array; a view repeats the run of its operand, so that views cost
// no memory (storage_model.h).
#include "engine/ir/storage_model.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/support/units.h"

namespace recut {
namespace {

constexpr std::int64_t kMaxTotalBytes = std::int64_t{1} << 60;

// The output that a getitem picks: its second argument.
std::size_t picked_output(const Node& getitem) {
  const auto* index = getitem.arguments[1].get<std::int64_t>();
  return index != nullptr && *index >= 0 ? static_cast<std::size_t>(*index) : SIZE_MAX;
}

std::int64_t allocated_bytes(const Graph& graph, std::int64_t bytes) {
  return graph.measured == nullptr ? bytes : graph.measured->allocated(bytes);
}

// Views run no kernel, so bytes measured of them are no workspace.
std::int64_t workspace_bytes(const Graph& graph, NodeId id) {
  const Measurement* measurement = graph.measurement(id);
  if (measurement == nullptr || graph.op(id).is(kInput) || graph.op(id).is(kView)) return 0;
  return allocated_bytes(graph, measurement->workspace_bytes);
}

}  // namespace

StorageModel::StorageModel(const Graph& graph, Sizes sizes) {
  std::size_t ids = 0;
  for (const NodeId id : graph.order()) ids = std::max<std::size_t>(ids, id.index + 1);
  runs_.resize(ids);
  const bool values = sizes == Sizes::values;
  for (const NodeId id : graph.order()) {
    const Node& node = graph[id];
    const Operator& op = graph.op(id);
    Run& run = runs_[id.index];
    if (op.is(kInput)) continue;
    if (op.is(kView) && !node.operands.empty()) {
      const NodeId source = node.operands.front();
      run = runs_[source.index];
      if (node.op != Op::getitem || graph.op(source).is(kView)) continue;
      const std::size_t output = picked_output(node);
      for (; run.count > 0 && storages_[storage_lists_[run.first].index].output != output;
           ++run.first)
        --run.count;
      run.count = std::min<std::size_t>(run.count, 1);
      continue;
    }
    run.first = storage_lists_.size();
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const std::int64_t bytes = byte_size(node.outputs[i]);
      if (bytes == 0) continue;
      const std::int64_t counted = values ? bytes : allocated_bytes(graph, bytes);
      storage_lists_.push_back(StorageId(storages_.size()));
      storages_.push_back({id, i, counted});
    }
    run.count = storage_lists_.size() - run.first;
  }
  if (!values && graph.measured != nullptr) add_workspaces(graph);
}

// Workspaces come last, so that storage ids are the same with and without them.
void StorageModel::add_workspaces(const Graph& graph) {
  workspaces_.resize(runs_.size());
  for (const NodeId id : graph.order()) {
    const std::int64_t bytes = workspace_bytes(graph, id);
    if (bytes == 0) continue;
    workspaces_[id.index] = StorageId(storages_.size());
    storages_.push_back({id, kWorkspace, bytes});
  }
}

std::optional<StorageId> StorageModel::workspace(NodeId id) const {
  if (id.index >= workspaces_.size() || !workspaces_[id.index].valid()) return std::nullopt;
  return workspaces_[id.index];
}

std::span<const StorageId> StorageModel::storages_of(NodeId id) const {
  if (id.index >= runs_.size()) return {};
  const Run& run = runs_[id.index];
  return std::span(storage_lists_).subspan(run.first, run.count);
}

std::span<const StorageId> StorageModel::owned(NodeId id) const {
  const std::span<const StorageId> all = storages_of(id);
  return !all.empty() && storages_[all.front().index].owner == id ? all
                                                                  : std::span<const StorageId>();
}

std::int64_t StorageModel::storage_bytes_of(std::span<const NodeId> values) const {
  std::vector<bool> counted(storages_.size(), false);
  std::int64_t bytes = 0;
  for (const NodeId value : values)
    for (const StorageId storage : storages_of(value)) {
      if (counted[storage.index]) continue;
      counted[storage.index] = true;
      bytes += storages_[storage.index].bytes;
    }
  return bytes;
}

std::int64_t value_bytes(const Node& node) {
  std::int64_t bytes = 0;
  for (const TensorType& type : node.outputs) bytes += byte_size(type);
  return bytes;
}

Result<Done> check_total_bytes(const Graph& graph) {
  // A value and a workspace have at most 2^50 bytes, rounded up by less, so that the sum can't
  // overflow before it is seen to be too large.
  std::int64_t total = 0;
  for (const NodeId id : graph.order()) {
    const auto add = [&](std::int64_t bytes) {
      total += bytes;
      return total <= kMaxTotalBytes;
    };
    bool counted = add(workspace_bytes(graph, id));
    for (const TensorType& type : graph[id].outputs)
      counted = counted && add(allocated_bytes(graph, byte_size(type)));
    if (!counted)
      return error(fmt::format("the values of this graph add up to more than {}; at '{}'",
                               format_bytes(kMaxTotalBytes), graph.node_name(id)));
  }
  return Done{};
}

}  // namespace recut
