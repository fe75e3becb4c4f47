#include "engine/autodiff/canonical_order.h"

#include <algorithm>
#include <unordered_set>

#include "engine/ir/copy.h"
#include "engine/ir/data_flow.h"

namespace recut::autodiff {
namespace {

class CanonicalOrdering {
 public:
  CanonicalOrdering(const Graph& draft, const Graph& pool_owner)
      : draft_(draft),
        keep_(live_nodes(draft)),
        canonical_{pool_owner.empty_like(), std::vector<NodeId>(draft.order().size())} {
    for (const NodeId id : draft.inputs()) keep_[draft.position(id)] = true;
  }

  CanonicalGraph run(std::span<const std::size_t> call_starts) {
    const auto order = draft_.order();
    const std::size_t head = call_starts.empty() ? order.size() : call_starts.front();
    for (const NodeId id : order.first(head))
      if (keep_[draft_.position(id)]) write(id, draft_.origin(id).name);
    for (const auto& [alias, id] : draft_.aliases())
      if (image(id).valid()) canonical_.graph.add_alias(alias, image(id));
    for (std::size_t i = 0; i < call_starts.size(); ++i) {
      const std::size_t end = i + 1 < call_starts.size() ? call_starts[i + 1] : order.size();
      write_segment(order.subspan(call_starts[i], end - call_starts[i]));
    }
    for (const NodeId id : draft_.results)
      canonical_.graph.results.push_back(canonical_.of(draft_, id));
    for (const NodeId id : draft_.gradients)
      canonical_.graph.gradients.push_back(canonical_.of(draft_, id));
    return std::move(canonical_);
  }

 private:
  NodeId image(NodeId id) const { return canonical_.images[draft_.position(id)]; }

  void write(NodeId id, std::string name) {
    Origin origin = draft_.origin(id);
    origin.name = std::move(name);
    canonical_.images[draft_.position(id)] = copy_node(
        draft_, id, canonical_.graph, std::move(origin), [&](NodeId of) { return image(of); });
  }

  // Roots are calls that no other call of the segment reads.
  void write_segment(std::span<const NodeId> calls) {
    std::unordered_set<NodeId> read;  // asked only
    std::vector<NodeId> roots;
    for (auto it = calls.rbegin(); it != calls.rend(); ++it) {
      if (!keep_[draft_.position(*it)]) continue;
      if (read.count(*it) == 0) roots.push_back(*it);
      read.insert(draft_[*it].operands.begin(), draft_[*it].operands.end());
    }
    std::sort(roots.begin(), roots.end(), [&](NodeId a, NodeId b) { return compare(a, b) < 0; });
    for (const NodeId root : roots) write_with_operands(root);
  }

  void write_with_operands(NodeId id) {
    if (image(id).valid()) return;
    for (const NodeId operand : draft_[id].operands) write_with_operands(operand);
    write(id, {});
  }

  // A three-way comparison, negative if `a` comes first. Nodes that are written already come first,
  // in their order; the others follow by operator, then by arguments in order. Equal nodes are one
  // node, so that 0 means the same node.
  std::int64_t compare(NodeId a, NodeId b) const {
    if (a == b) return 0;
    const NodeId x = image(a), y = image(b);
    if (x.valid() != y.valid()) return x.valid() ? -1 : 1;
    if (x.valid())
      return static_cast<std::int64_t>(canonical_.graph.position(x)) -
             static_cast<std::int64_t>(canonical_.graph.position(y));
    const Node &one = draft_[a], &other = draft_[b];
    if (one.op != other.op) return one.op < other.op ? -1 : 1;
    return compare(one.arguments, other.arguments);
  }

  std::int64_t compare(const ArgumentList& a, const ArgumentList& b) const {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      if (const std::int64_t order = compare(a[i], b[i]); order != 0) return order;
    return static_cast<std::int64_t>(a.size()) - static_cast<std::int64_t>(b.size());
  }

  std::int64_t compare(const Argument& a, const Argument& b) const {
    if (a.value.index() != b.value.index()) return a.value.index() < b.value.index() ? -1 : 1;
    if (const auto* id = a.get<NodeId>()) return compare(*id, *b.get<NodeId>());
    if (const auto* list = a.get<ArgumentList>()) return compare(*list, *b.get<ArgumentList>());
    if (a == b) return 0;
    return hash(a, 0) < hash(b, 0) ? -1 : 1;  // the same hashes everywhere
  }

  const Graph& draft_;
  std::vector<bool> keep_;  // by position
  CanonicalGraph canonical_;
};

}  // namespace

CanonicalGraph in_canonical_order(const Graph& draft, std::span<const std::size_t> call_starts,
                                  const Graph& pool_owner) {
  return CanonicalOrdering(draft, pool_owner).run(call_starts);
}

}  // namespace recut::autodiff
