// Dead code elimination.
//
//   %a = exp(%x)                   %b = relu(%x)
//   %b = relu(%x)           =>     results %b
//   results %b
//
// Needs nothing. Establishes: every call and every constant leads to a result or a gradient.
// Placeholders stay, since they are the graph's signature. Unused random draws are removed too: the
// values of the others depend on their own numbers alone.
#include "engine/ir/rebuild.h"
#include "engine/passes/pass.h"

namespace recut::passes {

PassResult dead_code(const Graph& graph) {
  PassResult result{without_dead_nodes(graph), false, {}};
  result.changed = result.graph.order().size() != graph.order().size();
  if (!result.changed) return result;
  const auto before = std::make_shared<const Graph>(graph);
  for (const NodeId id : graph.order())
    if (!result.graph.contains(id))
      result.changes.push_back({"unused", id, {}, ChangeDescription(before, {id}, nullptr, {})});
  return result;
}

}  // namespace recut::passes
