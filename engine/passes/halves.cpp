#include "engine/passes/halves.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "engine/ir/copy.h"
#include "engine/support/check.h"

namespace recut {
namespace {

class HalvesCut {
 public:
  HalvesCut(const Graph& graph, const Plan& plan) : graph_(graph), plan_(plan) {}

  Halves run() {
    find_handed_over();
    Halves halves{forward(), backward()};
    halves.forward.name += "_forward";
    halves.backward.name += "_backward";
    return halves;
  }

 private:
  // Collects the values that cross the boundary: saved calls, or the outputs of those with several.
  void find_handed_over() {
    std::unordered_set<NodeId> several;
    for (const NodeId id : plan_.saved) {
      if (graph_.op(id).multiple_outputs())
        several.insert(id);
      else
        hand_over(id);
    }
    for (const NodeId id : plan_.backward)
      if (graph_[id].op == Op::getitem && several.count(graph_[id].operands.front()) != 0)
        hand_over(id);
  }

  void hand_over(NodeId id) {
    if (is_handed_over_.insert(id).second) handed_over_.push_back(id);
  }

  Graph forward() const {
    Graph half = graph_.fresh();
    for (const NodeId id : graph_.order()) {
      const bool input = graph_[id].op == Op::placeholder;
      if (input && graph_.input_kind(id) != InputKind::tangent)
        half.add_input(graph_.input_kind(id), graph_.type(id), graph_.origin(id));
      else if (graph_[id].op == Op::constant)
        half.add_constant(graph_.type(id), graph_.origin(id));
    }
    for (const auto* calls : {&plan_.forward, &handed_over_})
      for (const NodeId id : *calls)
        if (!half.contains(id))
          half.append(graph_[id].op, graph_[id].arguments, graph_[id].outputs, graph_.origin(id));
    half.results = graph_.results;
    half.results.insert(half.results.end(), handed_over_.begin(), handed_over_.end());
    return half;
  }

  // The nodes between the saved values and the gradients.
  std::unordered_set<NodeId> needed() const {
    std::unordered_set<NodeId> needed;
    std::vector<NodeId> open;
    const auto need = [&](NodeId id) {
      if (id.valid() && needed.insert(id).second && is_handed_over_.count(id) == 0)
        open.push_back(id);
    };
    for (const NodeId id : graph_.gradients) need(id);
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      for (const NodeId operand : graph_[id].operands) need(operand);
    }
    return needed;
  }

  Graph backward() const {
    const std::unordered_set<NodeId> wanted = needed();
    Graph half = graph_.fresh();
    std::unordered_map<NodeId, NodeId> image;  // looked up only, never walked
    const auto add_input = [&](NodeId id, InputKind kind) {
      image[id] = half.add_input(kind, graph_.type(id), graph_.origin(id));
    };
    for (const NodeId id : graph_.order())
      if (graph_[id].op == Op::placeholder &&
          (wanted.count(id) != 0 || graph_.input_kind(id) == InputKind::tangent))
        add_input(id, graph_.input_kind(id) == InputKind::parameter ? InputKind::parameter
                                                                    : InputKind::input);
    for (const NodeId id : handed_over_) add_input(id, InputKind::input);
    for (const NodeId id : graph_.order())
      if (graph_[id].op == Op::constant && wanted.count(id) != 0)
        image[id] = half.add_constant(graph_.type(id), graph_.origin(id));
    for (const NodeId id : plan_.backward) {
      if (wanted.count(id) == 0 || image.count(id) != 0) continue;
      image[id] = copy_node(graph_, id, half, graph_.origin(id),
                            [&](NodeId operand) { return image.at(operand); });
    }
    for (const NodeId id : graph_.gradients)
      if (id.valid()) half.results.push_back(image.at(id));
    return half;
  }

  const Graph& graph_;
  const Plan& plan_;
  std::vector<NodeId> handed_over_;
  std::unordered_set<NodeId> is_handed_over_;
};

}  // namespace

Halves halves_of(const Graph& graph, const Plan& plan) { return HalvesCut(graph, plan).run(); }

}  // namespace recut
