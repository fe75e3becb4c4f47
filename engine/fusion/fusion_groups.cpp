#include "engine/fusion/fusion_groups.h"

#include <algorithm>
#include <utility>

#include "engine/ir/aliases.h"
#include "engine/ir/data_flow.h"
#include "engine/support/check.h"

namespace recut {
namespace {

constexpr std::int32_t kUnread = -2;
constexpr std::int32_t kManyReaders = -3;

bool is_call(const Graph& graph, NodeId id) {
  return !graph.op(id).is(kInput) && defining_node(graph, id) == id;
}

}  // namespace

FusionGroups::FusionGroups(const Graph& graph, const StorageModel& storages,
                           std::vector<Group> groups)
    : group_of_(graph.pool().size() + 1, kAlone) {
  for (Group& group : groups) {
    const std::int32_t g = size();
    for (const NodeId id : group.members) {
      RECUT_CHECK(is_call(graph, id) && this->group(id) == kAlone,
                  "groups are of calls, and disjoint");
      group_of_[id.index] = g;
    }
    inlined_.push_back(group.inlined.size());
    calls_.push_back(std::move(group.inlined));
    calls_.back().insert(calls_.back().end(), group.members.begin(), group.members.end());
  }

  const std::vector<bool> made = made_calls(graph);
  find_vanishing(graph, made);
  find_inner(graph, storages, made);
}

// The calls that the goals need, without calls that kernels recompute for themselves.
std::vector<bool> FusionGroups::made_calls(const Graph& graph) const {
  std::vector<bool> made(graph.order().size(), false);
  std::vector<NodeId> stack = graph_outputs(graph);
  for (const NodeId id : unread_external_calls(graph)) stack.push_back(id);
  while (!stack.empty()) {
    const NodeId id = defining_node(graph, stack.back());
    stack.pop_back();
    if (graph.op(id).is(kInput) || made[graph.position(id)]) continue;
    made[graph.position(id)] = true;
    const auto need_operands = [&](NodeId call) {
      for (const NodeId operand : graph[call].operands)
        if (!inlines(id, defining_node(graph, operand))) stack.push_back(operand);
    };
    need_operands(id);
    if (group(id) == kAlone) continue;
    for (const NodeId call : inlined(group(id))) need_operands(call);
  }
  return made;
}

void FusionGroups::find_vanishing(const Graph& graph, const std::vector<bool>& made) {
  const std::vector<bool> needed = live_nodes(graph);
  vanishes_.assign(group_of_.size(), false);
  for (const NodeId id : graph.order()) {
    const std::size_t p = graph.position(id);
    vanishes_[id.index] = needed[p] && is_call(graph, id) && !made[p];
  }
}

// A storage is inner where its readers are of one group, its owner's, and nothing returns it.
void FusionGroups::find_inner(const Graph& graph, const StorageModel& storages,
                              const std::vector<bool>& made) {
  std::vector<std::int32_t> reader(storages.size(), kUnread);
  const auto read = [&](NodeId value, std::int32_t by) {
    for (const StorageId s : storages.storages_of(value)) {
      std::int32_t& known = reader[s.index];
      known = known == kUnread || known == by ? by : kManyReaders;
    }
  };
  for (const NodeId id : graph.order()) {
    if (!made[graph.position(id)]) continue;
    for (const NodeId operand : graph[id].operands)
      if (!inlines(id, defining_node(graph, operand))) read(operand, group(id));
    if (group(id) == kAlone || members(group(id)).front() != id) continue;
    for (const NodeId operand : reads(graph, id)) read(operand, group(id));
  }
  for (const NodeId id : graph_outputs(graph)) read(id, kManyReaders);
  inner_.assign(storages.size(), false);
  for (std::size_t s = 0; s < inner_.size(); ++s)
    inner_[s] = reader[s] >= 0 && reader[s] == group(storages[StorageId(s)].owner);
}

std::vector<NodeId> FusionGroups::reads(const Graph& graph, NodeId call) const {
  const std::int32_t g = group(call);
  std::vector<NodeId> values;
  for (const NodeId id : g == kAlone ? std::span<const NodeId>(&call, 1) : calls(g))
    for (const NodeId operand : graph[id].operands) {
      const NodeId maker = defining_node(graph, operand);
      const bool inside = maker == call || (g != kAlone && group(maker) == g);
      if (!inside && !inlines(call, maker)) values.push_back(operand);
    }
  return values;
}

bool FusionGroups::inlines(NodeId reader, NodeId call) const {
  const std::int32_t g = group(reader);
  if (g == kAlone) return false;
  const auto repeated = inlined(g);
  return std::find(repeated.begin(), repeated.end(), call) != repeated.end();
}

}  // namespace recut
