#include "engine/passes/rewrite_nodes.h"

#include "engine/ir/rebuild.h"

namespace recut {
namespace {

// An existing successor is shown by name, a new one as a call.
ChangeDescription::Part shown(const Graph& from, NodeId old, const Graph& to, NodeId successor) {
  return {successor, !from.contains(successor) && to.node_name(successor) == from.node_name(old)};
}

void describe(const Graph& from, const Graph& to, std::vector<Change>& changes) {
  if (changes.empty()) return;
  const auto before = std::make_shared<const Graph>(from);
  const auto after = std::make_shared<const Graph>(to);
  for (Change& change : changes)
    change.description = ChangeDescription(before, {change.before}, after,
                                           {shown(from, change.before, to, change.after.front())});
}

}  // namespace

PassResult rewrite_nodes(const Graph& from, const TryRewrite& try_rewrite, const OnPlaced& placed) {
  std::vector<Change> changes;
  Graph to = rebuild(from, [&](Graph& graph, NodeId old, const std::vector<Argument>& arguments) {
    NodeId successor;
    if (const auto rewrite = try_rewrite(graph, old, arguments)) {
      successor = rewrite->node;
      changes.push_back({rewrite->rule, old, {successor}, {}});
    } else {
      successor = keep_node(from, graph, old, arguments);
    }
    if (placed) placed(old, graph, successor);
    return successor;
  });
  const bool changed = !changes.empty();
  describe(from, to, changes);
  return {std::move(to), changed, std::move(changes)};
}

}  // namespace recut
