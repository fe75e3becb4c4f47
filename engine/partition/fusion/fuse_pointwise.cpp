#include "engine/partition/fusion/fuse_pointwise.h"

#include <algorithm>

#include "engine/partition/execution.h"
#include "engine/partition/fusion/rows.h"

namespace recut {
namespace {

// Compilers bound their kernels too: arguments and registers run out.
constexpr std::size_t kMaxMembers = 64;

// How many groups a search for a cycle looks at before it gives up, and the two stay apart. Calls
// so far apart gain little by running together.
constexpr std::size_t kMaxVisits = 200;

// Operators of as many steps as an element's own data says: loops that no other call shares.
bool iterates(const Operator& op) {
  return op.op == Op::igamma || op.op == Op::igammac || op.op == Op::gcd || op.op == Op::lcm ||
         op.packet.find("_polynomial_") != std::string_view::npos;
}

// What a kernel that goes on after a reduction may have alive beyond what the larger of its two
// parts has: a part in so many, for weights and what there is one of a row.
constexpr std::int64_t kLittleMore = 16;

enum class Part : std::uint8_t { unused, forward, between, late };

std::int64_t elements(const TensorType& type) {
  std::int64_t count = 1;
  for (const std::int64_t size : type.shape) count *= size;
  return count;
}

class PointwiseFuser {
 public:
  PointwiseFuser(const Graph& graph, const StorageModel& storages, Fusion fusion)
      : graph_(graph), storages_(storages), fusion_(fusion), group_of_(graph.order().size(), 0) {
    find_parts();
    find_readers();
    for (const NodeId id : graph.order()) {
      const std::size_t p = graph.position(id);
      group_of_[p] = p;
      groups_.push_back({{id}, p, p, iterations(id)});
    }
    visited_.assign(groups_.size(), 0);
    for (const NodeId id : graph.order())
      if (parts_[graph.position(id)] != Part::unused)
        largest_footprint_ = std::max(largest_footprint_, footprint(group(id), group(id)));
  }

  FusionGroups run() {
    // Two that stay apart as long as a third reads what they share may join after it.
    while (join_all() && fusion_ == Fusion::rows) continue;
    std::vector<std::vector<NodeId>> found;
    for (Group& group : groups_) {
      if (group.members.size() < 2) continue;
      sort_by_position(group.members);
      found.push_back(std::move(group.members));
    }
    return FusionGroups(graph_, storages_, std::move(found));
  }

 private:
  using GroupIndex = std::size_t;

  struct Group {
    std::vector<NodeId> members;
    std::size_t first, last;  // positions
    std::int64_t elements;    // that it runs over
  };

  void find_parts() {
    const std::vector<NodeId> goals = goals_of(graph_);
    const std::vector<bool> needed = needed_nodes(graph_, goals);
    const std::vector<bool> forward = needed_nodes(graph_, graph_.results);
    const std::vector<bool> late = needs_tangent(graph_);
    for (std::size_t p = 0; p < needed.size(); ++p)
      parts_.push_back(!needed[p]   ? Part::unused
                       : forward[p] ? Part::forward
                       : late[p]    ? Part::late
                                    : Part::between);
    returned_.assign(needed.size(), false);
    result_.assign(needed.size(), false);
    for (const NodeId id : goals) returned_[graph_.position(maker_of(graph_, id))] = true;
    for (const NodeId id : graph_.results) result_[graph_.position(maker_of(graph_, id))] = true;
  }

  void find_readers() {
    readers_.resize(parts_.size());
    for (const NodeId id : graph_.order()) {
      if (parts_[graph_.position(id)] == Part::unused || maker_of(graph_, id) != id) continue;
      for (const NodeId operand : graph_[id].operands)
        readers_[graph_.position(maker_of(graph_, operand))].push_back(id);
    }
  }

  bool reduces(NodeId id) const { return graph_.op(id).flags == kReduction; }

  bool fusible(NodeId id) const {
    const Operator& op = graph_.op(id);
    return parts_[graph_.position(id)] != Part::unused &&
           (op.is(kPointwise | kCreation) || reduces(id)) && !op.is(kRandom | kImpure | kInput) &&
           !iterates(op) && !reads_draw(id);
  }

  bool reads_draw(NodeId id) const {
    const auto& operands = graph_[id].operands;
    return std::any_of(operands.begin(), operands.end(), [&](NodeId operand) {
      return graph_.op(maker_of(graph_, operand)).is(kImpure);
    });
  }

  std::int64_t iterations(NodeId id) const {
    const Node& node = graph_[id];
    const NodeId over = reduces(id) && !node.operands.empty() ? node.operands.front() : id;
    return graph_[over].outputs.empty() ? 0 : elements(graph_.type(over));
  }

  GroupIndex group(NodeId id) const { return group_of_[graph_.position(id)]; }

  // Whether any have joined.
  bool join_all() {
    bool joined = false;
    for (const NodeId id : graph_.order()) {
      if (!fusible(id)) continue;
      for (const NodeId operand : graph_[id].operands) {
        const NodeId producer = maker_of(graph_, operand);
        if (fusible(producer)) joined |= consider(group(producer), group(id));
      }
    }
    return joined;
  }

  bool consider(GroupIndex producer, GroupIndex consumer) {
    if (producer == consumer || !may_join(producer, consumer)) return false;
    Group& into = groups_[consumer];
    Group& from = groups_[producer];
    for (const NodeId id : from.members) group_of_[graph_.position(id)] = consumer;
    into.members.insert(into.members.end(), from.members.begin(), from.members.end());
    into.first = std::min(into.first, from.first);
    into.last = std::max(into.last, from.last);
    into.elements = std::max(into.elements, from.elements);
    from.members.clear();
    return true;
  }

  bool may_join(GroupIndex producer, GroupIndex consumer) {
    const Group& a = groups_[producer];
    const Group& b = groups_[consumer];
    if (a.members.size() + b.members.size() > kMaxMembers) return false;
    if (part_of(a) != part_of(b) || has_result(a)) return false;
    const bool closed = std::none_of(a.members.begin(), a.members.end(),
                                     [&](NodeId id) { return leaves(id, producer, consumer); });
    const RowKernel rows = row_kernel(graph_, members(producer, consumer));
    if (rows.form == RowKernel::Form::impossible) return false;
    const bool goes_on = rows.form == RowKernel::Form::goes_on;
    if (goes_on && !may_go_on(rows, producer, consumer)) return false;
    const bool same_space =
        a.elements == b.elements || (goes_on && runs_over(a, rows) && runs_over(b, rows));
    if (!closed && (!same_space || has_result(b))) return false;
    if (footprint(producer, consumer) > largest_footprint_) return false;
    return !reaches(producer, consumer) && !reaches(consumer, producer);
  }

  // Bytes alive while two groups (or twice the same) run as one kernel: what it reads and what
  // leaves it.
  std::int64_t footprint(GroupIndex a, GroupIndex b) const {
    std::vector<StorageId> alive;
    const auto add = [&](std::span<const StorageId> storages) {
      alive.insert(alive.end(), storages.begin(), storages.end());
    };
    for (const GroupIndex g : {a, b})
      for (const NodeId id : groups_[g].members) {
        for (const NodeId operand : graph_[id].operands)
          if (!within(maker_of(graph_, operand), a, b)) add(storages_.behind(operand));
        if (leaves(id, a, b)) add(storages_.owned(id));
      }
    std::sort(alive.begin(), alive.end());
    alive.erase(std::unique(alive.begin(), alive.end()), alive.end());
    std::int64_t bytes = 0;
    for (const StorageId s : alive) bytes += storages_[s].bytes;
    return bytes;
  }

  bool within(NodeId id, GroupIndex a, GroupIndex b) const {
    return group(id) == a || group(id) == b;
  }

  // Whether anything but the two groups reads what a call of theirs makes.
  bool leaves(NodeId id, GroupIndex a, GroupIndex b) const {
    const std::size_t p = graph_.position(id);
    return returned_[p] || readers_[p].empty() ||
           std::any_of(readers_[p].begin(), readers_[p].end(),
                       [&](NodeId reader) { return !within(reader, a, b); });
  }

  Part part_of(const Group& group) const { return parts_[graph_.position(group.members.front())]; }

  bool has_result(const Group& group) const {
    return std::any_of(group.members.begin(), group.members.end(),
                       [&](NodeId id) { return result_[graph_.position(id)]; });
  }

  // Of both groups, in the graph's order.
  std::vector<NodeId> members(GroupIndex a, GroupIndex b) const {
    std::vector<NodeId> all = groups_[a].members;
    all.insert(all.end(), groups_[b].members.begin(), groups_[b].members.end());
    sort_by_position(all);
    return all;
  }

  void sort_by_position(std::vector<NodeId>& calls) const {
    std::sort(calls.begin(), calls.end(),
              [&](NodeId a, NodeId b) { return graph_.position(a) < graph_.position(b); });
  }

  static bool runs_over(const Group& group, const RowKernel& rows) {
    return group.elements == rows.space.rows() || group.elements == element_count(rows.space.shape);
  }

  // Whether kernels go that far, rows lie together, and enough of them, and nothing makes plans
  // worse.
  bool may_go_on(const RowKernel& rows, GroupIndex a, GroupIndex b) const {
    if (fusion_ != Fusion::rows || !has_enough_rows(rows.space) || !lie_together(rows))
      return false;
    const std::int64_t apart = std::max(footprint(a, a), footprint(b, b));
    if (footprint(a, b) > apart + apart / kLittleMore) return false;
    return part_of(groups_[a]) == Part::late ||
           std::none_of(rows.behind.begin(), rows.behind.end(),
                        [&](NodeId reader) { return reads_what_is_written(reader, rows, a, b); });
  }

  // Whether a call behind a reduction reads elements from before it that leave the kernel.
  bool reads_what_is_written(NodeId reader, const RowKernel& rows, GroupIndex a,
                             GroupIndex b) const {
    const auto& operands = graph_[reader].operands;
    return std::any_of(operands.begin(), operands.end(), [&](NodeId operand) {
      const NodeId maker = maker_of(graph_, operand);
      return within(maker, a, b) && !rows.is_behind(maker) && !reduces(maker) &&
             leaves(maker, a, b) && iterations(maker) == element_count(rows.space.shape);
    });
  }

  bool lie_together(const RowKernel& rows) const {
    const NodeId reduced = graph_[rows.first].operands.front();
    return rows_lie_together(rows.space, graph_.type(reduced).strides);
  }

  // Whether `to` needs `from` by way of a third group: joined, the two would need themselves.
  bool reaches(GroupIndex from, GroupIndex to) {
    ++search_;
    visited_[from] = visited_[to] = search_;
    std::vector<GroupIndex> stack;
    push_needed(to, stack, from);
    for (std::size_t visits = 0; !stack.empty(); ++visits) {
      if (visits == kMaxVisits) return true;
      const GroupIndex at = stack.back();
      stack.pop_back();
      if (push_needed(at, stack, from)) return true;
    }
    return false;
  }

  // The groups that a group reads and that may lie behind `from`. True where `from` is one of them.
  bool push_needed(GroupIndex reader, std::vector<GroupIndex>& stack, GroupIndex from) {
    bool found = false;
    for (const NodeId id : groups_[reader].members)
      for (const NodeId operand : graph_[id].operands) {
        const GroupIndex needed = group(maker_of(graph_, operand));
        found = found || needed == from;
        if (visited_[needed] == search_ || groups_[needed].last < groups_[from].first) continue;
        visited_[needed] = search_;
        stack.push_back(needed);
      }
    return found;
  }

  const Graph& graph_;
  const StorageModel& storages_;
  const Fusion fusion_;
  std::vector<Part> parts_;                   // by position
  std::vector<bool> returned_, result_;       // by position; through views
  std::vector<std::vector<NodeId>> readers_;  // by position; through views
  std::vector<GroupIndex> group_of_;          // by position
  std::vector<Group> groups_;                 // those that have joined another are empty
  std::vector<std::uint32_t> visited_;        // by group: the last search that met it
  std::uint32_t search_ = 0;
  std::int64_t largest_footprint_ = 0;  // of a call alone
};

}  // namespace

const char* name_of(Fusion fusion) {
  switch (fusion) {
    case Fusion::none:
      return "none";
    case Fusion::chains:
      return "chains";
    case Fusion::rows:
      return "rows";
  }
  return "";
}

FusionGroups fuse_pointwise(const Graph& graph, const StorageModel& storages, Fusion fusion) {
  if (fusion == Fusion::none) return {};
  return PointwiseFuser(graph, storages, fusion).run();
}

}  // namespace recut
