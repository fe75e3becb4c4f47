// The state of fusion: a partition of the calls into groups, with the queries that the fusers
// decide by.
//
// Invariant: the groups form an acyclic graph, so they can run one after another. The fusers join
// only pairs that reaches() has cleared: no third group lies on a path between the two. That search
// goes backwards from the later group, is cut by positions, and gives up after kMaxVisits. The
// footprint is the bytes alive while a group runs. Fusers compare it with that of the larger part
// (within_larger_footprint), since a larger one would raise the peak.
#include "engine/fusion/group_set.h"

#include <algorithm>
#include <utility>

#include "engine/ir/aliases.h"
#include "engine/ir/data_flow.h"

namespace recut {
namespace {

// Compilers bound their kernels too: arguments and registers run out.
constexpr std::size_t kMaxMembers = 64;

// The limit of a search for a cycle; beyond it the two groups do not join. Calls that far apart
// gain little by running together.
constexpr std::size_t kMaxVisits = 200;

// The slack of a footprint: its bytes divided by this.
constexpr std::int64_t kSlackFraction = 16;

}  // namespace

GroupSet::GroupSet(const Graph& graph, const StorageModel& storages)
    : graph_(graph), storages_(storages), group_of_(graph.order().size(), 0) {
  find_parts();
  find_readers();
  for (const NodeId id : graph.order()) {
    const std::size_t p = graph.position(id);
    group_of_[p] = p;
    groups_.push_back({{id}, {}, p, p, iterations(id)});
  }
  visited_.assign(groups_.size(), 0);
  for (const NodeId id : graph.order())
    if (part(id) != Part::unused)
      largest_footprint_ = std::max(largest_footprint_, footprint(of(id), of(id)));
}

void GroupSet::find_parts() {
  const std::vector<NodeId> goals = graph_outputs(graph_);
  const std::vector<bool> needed = live_nodes(graph_);
  const std::vector<bool> forward = forward_nodes(graph_);
  const std::vector<bool> late = needs_tangent(graph_);
  for (std::size_t p = 0; p < needed.size(); ++p)
    parts_.push_back(!needed[p]   ? Part::unused
                     : forward[p] ? Part::forward
                     : late[p]    ? Part::needs_tangent
                                  : Part::backward_only);
  returned_.assign(needed.size(), false);
  result_.assign(needed.size(), false);
  for (const NodeId id : goals) returned_[graph_.position(defining_node(graph_, id))] = true;
  for (const NodeId id : graph_.results)
    if (id.valid()) result_[graph_.position(defining_node(graph_, id))] = true;
}

void GroupSet::find_readers() {
  readers_.resize(parts_.size());
  for (const NodeId id : graph_.order()) {
    if (part(id) == Part::unused || defining_node(graph_, id) != id) continue;
    for (const NodeId operand : graph_[id].operands)
      readers_[graph_.position(defining_node(graph_, operand))].push_back(id);
  }
}

// A draw from a seed is computed element by element, as a pointwise call.
bool GroupSet::fusible(NodeId id) const {
  const Operator& op = graph_.op(id);
  return part(id) != Part::unused && (op.is(kPointwise | kCreation | kRandom) || reduces(id)) &&
         !op.is(kImpure | kInput) && !op.is(kIterative) && !reads_draw(id);
}

bool GroupSet::reads_draw(NodeId id) const {
  const auto& operands = graph_[id].operands;
  return std::any_of(operands.begin(), operands.end(), [&](NodeId operand) {
    return graph_.op(defining_node(graph_, operand)).is(kImpure);
  });
}

std::int64_t GroupSet::iterations(NodeId id) const {
  const Node& node = graph_[id];
  const NodeId over = reduces(id) && !node.operands.empty() ? node.operands.front() : id;
  return graph_[over].outputs.empty() ? 0 : element_count(graph_.type(over).shape);
}

std::vector<NodeId> GroupSet::members(Index a, Index b) const {
  std::vector<NodeId> all = groups_[a].members;
  all.insert(all.end(), groups_[b].members.begin(), groups_[b].members.end());
  sort_by_position(all);
  return all;
}

void GroupSet::sort_by_position(std::vector<NodeId>& calls) const {
  std::sort(calls.begin(), calls.end(),
            [&](NodeId a, NodeId b) { return graph_.position(a) < graph_.position(b); });
}

bool GroupSet::has_result(Index group) const {
  const auto& members = groups_[group].members;
  return std::any_of(members.begin(), members.end(),
                     [&](NodeId id) { return result_[graph_.position(id)]; });
}

bool GroupSet::leaves(NodeId id, Index a, Index b) const {
  const std::size_t p = graph_.position(id);
  return returned_[p] || readers_[p].empty() ||
         std::any_of(readers_[p].begin(), readers_[p].end(),
                     [&](NodeId reader) { return !within(reader, a, b); });
}

bool GroupSet::inlines(Index group, NodeId call) const {
  const auto& inlined = groups_[group].inlined;
  return std::find(inlined.begin(), inlined.end(), call) != inlined.end();
}

std::int64_t GroupSet::footprint(Index a, Index b) const {
  std::vector<StorageId> alive;
  const auto add = [&](std::span<const StorageId> storages) {
    alive.insert(alive.end(), storages.begin(), storages.end());
  };
  const auto add_reads = [&](NodeId id) {
    for (const NodeId operand : graph_[id].operands) {
      const NodeId maker = defining_node(graph_, operand);
      if (!within(maker, a, b) && !inlines(a, maker) && !inlines(b, maker))
        add(storages_.storages_of(operand));
    }
  };
  for (const Index g : {a, b}) {
    for (const NodeId id : groups_[g].inlined) add_reads(id);
    for (const NodeId id : groups_[g].members) {
      add_reads(id);
      if (leaves(id, a, b)) add(storages_.owned(id));
    }
  }
  std::sort(alive.begin(), alive.end());
  alive.erase(std::unique(alive.begin(), alive.end()), alive.end());
  std::int64_t bytes = 0;
  for (const StorageId s : alive) bytes += storages_[s].bytes;
  return bytes;
}

std::int64_t GroupSet::with_slack(std::int64_t bytes) { return bytes + bytes / kSlackFraction; }

bool GroupSet::within_larger_footprint(Index a, Index b) const {
  return footprint(a, b) <= with_slack(std::max(footprint(a, a), footprint(b, b)));
}

bool GroupSet::may_share_a_kernel(Index a, Index b) const {
  return a != b && groups_[a].members.size() + groups_[b].members.size() <= kMaxMembers &&
         part(a) == part(b);
}

// Tells whether `to` depends on `from` through a third group.
bool GroupSet::reaches(Index from, Index to) {
  ++search_;
  visited_[from] = visited_[to] = search_;
  std::vector<Index> stack;
  push_needed(to, stack, from);
  for (std::size_t visits = 0; !stack.empty(); ++visits) {
    if (visits == kMaxVisits) return true;
    const Index at = stack.back();
    stack.pop_back();
    if (push_needed(at, stack, from)) return true;
  }
  return false;
}

// The groups that a group reads and that may lie behind `from`. True where `from` is one of them.
bool GroupSet::push_needed(Index reader, std::vector<Index>& stack, Index from) {
  bool found = false;
  for (const NodeId id : groups_[reader].members)
    for (const NodeId operand : graph_[id].operands) {
      const Index needed = of(defining_node(graph_, operand));
      found = found || needed == from;
      if (visited_[needed] == search_ || groups_[needed].last < groups_[from].first) continue;
      visited_[needed] = search_;
      stack.push_back(needed);
    }
  return found;
}

void GroupSet::join(Index from, Index into) {
  Group& source = groups_[from];
  Group& target = groups_[into];
  for (const NodeId id : source.members) group_of_[graph_.position(id)] = into;
  target.members.insert(target.members.end(), source.members.begin(), source.members.end());
  for (const NodeId id : source.inlined)
    if (!inlines(into, id)) target.inlined.push_back(id);
  target.first = std::min(target.first, source.first);
  target.last = std::max(target.last, source.last);
  target.elements = std::max(target.elements, source.elements);
  source.members.clear();
  source.inlined.clear();
}

void GroupSet::inline_into(Index group, std::vector<NodeId> calls) {
  sort_by_position(calls);
  groups_[group].inlined = std::move(calls);
}

FusionGroups GroupSet::kernels() const {
  std::vector<FusionGroups::Group> found;
  for (const Group& group : groups_)
    if (group.members.size() + group.inlined.size() > 1)
      found.push_back({group.members, group.inlined});
  return FusionGroups(graph_, storages_, std::move(found));
}

FusionGroups GroupSet::finish() && {
  for (Group& group : groups_) sort_by_position(group.members);
  const FusionGroups with_vanishing = kernels();
  for (Group& group : groups_)
    std::erase_if(group.members, [&](NodeId id) { return with_vanishing.vanishes(id); });
  return kernels();
}

}  // namespace recut
