#include "engine/passes/partitioned_graphs.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "engine/ir/copy.h"
#include "engine/ir/graph_signature.h"
#include "engine/support/check.h"

namespace recut {
namespace {

class GraphPartitioner {
 public:
  GraphPartitioner(const Graph& graph, const Plan& plan) : graph_(graph), plan_(plan) {}

  PartitionedGraphs run() {
    find_saved();
    PartitionedGraphs partitioned{forward(), backward()};
    partitioned.forward.name += "_forward";
    partitioned.backward.name += "_backward";
    return partitioned;
  }

 private:
  // Collects the values that cross the boundary: saved calls, each output of a saved call with
  // several by itself.
  void find_saved() {
    std::unordered_set<NodeId> several;
    for (const NodeId id : plan_.saved) {
      if (graph_.op(id).multiple_outputs())
        several.insert(id);
      else
        save(id);
    }
    for (const NodeId id : plan_.backward)
      if (graph_[id].op == Op::getitem && several.count(graph_[id].operands.front()) != 0) save(id);
  }

  void save(NodeId id) {
    if (is_saved_.insert(id).second) saved_.push_back(id);
  }

  Graph forward() const {
    Graph graph = graph_.empty_like();
    for (const NodeId id : graph_.order()) {
      const bool input = graph_[id].op == Op::placeholder;
      if (input && graph_.input_kind(id) != InputKind::tangent)
        graph.add_input(graph_.input_kind(id), graph_.type(id), graph_.origin(id));
      else if (graph_[id].op == Op::constant)
        graph.add_constant(graph_.type(id), graph_.origin(id));
    }
    for (const auto* calls : {&plan_.forward, &saved_})
      for (const NodeId id : *calls)
        if (!graph.contains(id))
          graph.append(graph_[id].op, graph_[id].arguments, graph_[id].outputs, graph_.origin(id));
    graph.results = graph_.results;
    graph.results.insert(graph.results.end(), saved_.begin(), saved_.end());
    set_signature(graph, without_tangents(graph_));
    return graph;
  }

  // The nodes between the saved values and the gradients.
  std::unordered_set<NodeId> needed() const {
    std::unordered_set<NodeId> needed;
    std::vector<NodeId> open;
    const auto need = [&](NodeId id) {
      if (id.valid() && needed.insert(id).second && is_saved_.count(id) == 0) open.push_back(id);
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
    const std::unordered_set<NodeId> live = needed();
    Graph graph = graph_.empty_like();
    graph.signature = nullptr;                 // its results are gradients
    std::unordered_map<NodeId, NodeId> image;  // looked up only, never walked
    const auto add_input = [&](NodeId id, InputKind kind) {
      image[id] = graph.add_input(kind, graph_.type(id), graph_.origin(id));
    };
    for (const NodeId id : graph_.order())
      if (graph_[id].op == Op::placeholder &&
          (live.count(id) != 0 || graph_.input_kind(id) == InputKind::tangent))
        add_input(id, graph_.input_kind(id) == InputKind::parameter ? InputKind::parameter
                                                                    : InputKind::input);
    for (const NodeId id : saved_) add_input(id, InputKind::input);
    for (const NodeId id : graph_.order())
      if (graph_[id].op == Op::constant && live.count(id) != 0)
        image[id] = graph.add_constant(graph_.type(id), graph_.origin(id));
    for (const NodeId id : plan_.backward) {
      if (live.count(id) == 0 || image.count(id) != 0) continue;
      image[id] = copy_node(graph_, id, graph, graph_.origin(id),
                            [&](NodeId operand) { return image.at(operand); });
    }
    for (const NodeId id : graph_.gradients)
      if (id.valid()) graph.results.push_back(image.at(id));
    return graph;
  }

  const Graph& graph_;
  const Plan& plan_;
  std::vector<NodeId> saved_;
  std::unordered_set<NodeId> is_saved_;
};

}  // namespace

PartitionedGraphs partition_graphs(const Graph& graph, const Plan& plan) {
  return GraphPartitioner(graph, plan).run();
}

}  // namespace recut
