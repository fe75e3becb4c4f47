#include "engine/passes/rewrite_nodes.h"

#include <fmt/format.h>

#include "engine/ir/printer.h"
#include "engine/ir/rebuild.h"

namespace recut {
namespace {

// A successor that was there before is named; one made for the purpose is shown.
std::string describe(const Graph& from, NodeId old, const Graph& to, NodeId successor) {
  const bool made = !from.contains(successor) && to.node_name(successor) == from.node_name(old);
  return fmt::format("{}  =>  {}", print_node(from, old),
                     made ? print_node(to, successor) : print_argument(to, successor));
}

}  // namespace

PassResult rewrite_nodes(const Graph& from, const TryRewrite& try_rewrite, const Placed& placed) {
  std::vector<Change> changes;
  Graph to = rebuild(from, [&](Graph& graph, NodeId old, std::vector<Argument> arguments) {
    NodeId successor;
    if (const auto rewrite = try_rewrite(graph, old, arguments)) {
      successor = rewrite->node;
      changes.push_back({rewrite->rule, old, {successor}, describe(from, old, graph, successor)});
    } else {
      successor = keep_node(from, graph, old, std::move(arguments));
    }
    if (placed) placed(old, graph, successor);
    return successor;
  });
  const bool changed = !changes.empty();
  return {std::move(to), changed, std::move(changes)};
}

}  // namespace recut
