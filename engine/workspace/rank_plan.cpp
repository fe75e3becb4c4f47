#include "engine/workspace/rank_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "engine/ir/argument.h"
#include "engine/support/text.h"

namespace recut {
namespace {

std::vector<NodeId> mentions(const Graph& graph, NodeId id) {
  std::vector<NodeId> nodes;
  for (const Argument& argument : graph[id].arguments)
    for_each_node(argument, [&](NodeId node) { nodes.push_back(node); });
  return nodes;
}

// The counterparts of one phase's calls; none of `done` runs.
std::vector<NodeId> carry_phase(const RankCalls& calls, const std::vector<NodeId>& phase,
                                const std::map<NodeId, NodeId>& done) {
  std::map<NodeId, NodeId> run = done;  // by counterpart: the call that it runs for
  std::vector<NodeId> carried;
  for (const NodeId id : phase)
    for (const NodeId other : calls.of(id)) {
      const auto [at, added] = run.emplace(other, id);
      if (added || at->second == id) carried.push_back(other);
    }
  return carried;
}

}  // namespace

Result<RankCalls> RankCalls::between(const Graph& first, const Graph& other) {
  RankCalls calls;
  const auto add = [&](std::string_view name, NodeId id) {
    const NodeId counterpart = other.find(name);
    if (!counterpart.valid() || other[counterpart].op != first[id].op) return;
    std::vector<NodeId>& all = calls.counterparts_[id];
    if (std::find(all.begin(), all.end(), counterpart) == all.end()) all.push_back(counterpart);
  };
  for (const NodeId id : first.order()) add(first.node_name(id), id);
  for (const auto& [alias, id] : first.aliases()) add(alias, id);
  for (const NodeId id : first.order())
    if (!calls.has_counterparts(id, first, other))
      return error(
          fmt::format("it has no call like {} of the first rank, whose plan all ranks "
                      "run by",
                      quote(first.node_name(id))));
  return calls;
}

// Some, whose operands are counterparts of the call's.
bool RankCalls::has_counterparts(NodeId id, const Graph& first, const Graph& other) const {
  const auto found = counterparts_.find(id);
  if (found == counterparts_.end()) return false;
  const std::vector<NodeId> operands = mentions(first, id);
  return std::all_of(found->second.begin(), found->second.end(), [&](NodeId counterpart) {
    const std::vector<NodeId> own = mentions(other, counterpart);
    return std::equal(
        own.begin(), own.end(), operands.begin(), operands.end(), [&](NodeId mine, NodeId its) {
          const auto all = counterparts_.find(its);
          return all != counterparts_.end() &&
                 std::find(all->second.begin(), all->second.end(), mine) != all->second.end();
        });
  });
}

std::vector<NodeId> RankCalls::carry(std::span<const NodeId> calls) const {
  std::vector<NodeId> carried;
  std::set<NodeId> seen;
  for (const NodeId id : calls)
    for (const NodeId other : of(id))
      if (seen.insert(other).second) carried.push_back(other);
  return carried;
}

KernelModel RankCalls::carry(const FusionGroups& groups, const Graph& other) const {
  StorageModel storages(other);
  std::set<NodeId> taken;
  std::vector<FusionGroups::Group> carried;
  for (std::int32_t g = 0; g < groups.size(); ++g) {
    FusionGroups::Group group;
    for (const NodeId id : carry(groups.members(g)))
      if (taken.insert(id).second) group.members.push_back(id);
    group.inlined = carry(groups.inlined(g));
    if (group.members.size() + group.inlined.size() > 1 && !group.members.empty())
      carried.push_back(std::move(group));
  }
  if (carried.empty()) return {std::move(storages), FusionGroups()};
  FusionGroups kernels(other, storages, std::move(carried));
  return {std::move(storages), std::move(kernels)};
}

Plan RankCalls::carry(const Plan& plan) const {
  std::map<NodeId, NodeId> saved;
  for (const NodeId id : plan.saved)
    for (const NodeId other : of(id)) saved.emplace(other, id);
  return {carry_phase(*this, plan.forward, {}), carry(plan.saved),
          carry_phase(*this, plan.backward, saved)};
}

}  // namespace recut
