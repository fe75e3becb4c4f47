#include "engine/passes/freezing/frozen_values.h"

#include "engine/ir/graph_signature.h"

namespace recut {

bool FrozenValues::contains(const Graph& graph, NodeId id) {
  std::vector<NodeId> open{id};
  while (!open.empty()) {
    const NodeId at = open.back();
    const Operator& op = graph.op(at);
    if (known_.count(at) != 0) {
      open.pop_back();
    } else if (op.is(kInput | kImpure | kRandom)) {
      known_[at] = graph[at].op == Op::constant ||
                   (graph.is_input(at) && graph.input_kind(at) == InputKind::parameter &&
                    !is_mutated(graph, at));
    } else {
      bool all = true, ready = true;
      for (const NodeId operand : graph[at].operands) {
        const auto it = known_.find(operand);
        if (it == known_.end()) {
          open.push_back(operand);
          ready = false;
        } else {
          all = all && it->second;
        }
      }
      if (ready) known_[at] = all;
    }
  }
  return known_.at(id);
}

}  // namespace recut
