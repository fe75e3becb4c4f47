#include "engine/partition/classify.h"

#include <algorithm>

#include "engine/ir/data_flow.h"

namespace recut {
namespace {

bool is_tangent(const Graph& graph, NodeId id) {
  return graph[id].op == Op::placeholder && graph.input_kind(id) == InputKind::tangent;
}

void mark_forward(const Graph& graph, std::vector<bool>& forward) {
  for (const NodeId id : graph.inputs())
    if (!is_tangent(graph, id)) forward[graph.position(id)] = true;
  const std::vector<bool> needed = forward_nodes(graph);
  for (std::size_t p = 0; p < needed.size(); ++p) forward[p] = forward[p] || needed[p];
  for (std::size_t p = forward.size(); p-- > 0;)
    if (forward[p])
      for (const NodeId operand : graph[graph.order()[p]].operands)
        forward[graph.position(operand)] = true;
}

}  // namespace

JointClasses::JointClasses(const Graph& graph, const Users& users)
    : forward(graph.order().size(), false),
      tangent_closure(needs_tangent(graph)),
      backward(tangent_closure),
      returned(graph.order().size(), false),
      forward_order(graph.order().size(), kNoOrder),
      distance(graph.order().size(), 0) {
  for (const NodeId id : graph.results)
    if (id.valid()) returned[graph.position(id)] = true;
  for (const NodeId id : graph.gradients)
    if (id.valid()) backward[graph.position(id)] = returned[graph.position(id)] = true;
  any_backward = std::find(backward.begin(), backward.end(), true) != backward.end();
  mark_forward(graph, forward);

  std::uint32_t order = 0;
  for (std::size_t p = 0; p < forward.size(); ++p)
    if (forward[p]) forward_order[p] = order++;
  for (std::size_t p = forward.size(); p-- > 0;) {
    if (!forward[p]) continue;
    distance[p] = kUnreached;
    for (const NodeId user : users.of(graph.order()[p]))
      distance[p] = std::min(distance[p], distance[graph.position(user)] + 1);
  }
}

}  // namespace recut
