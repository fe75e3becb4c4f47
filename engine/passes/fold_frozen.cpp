// Constant folding with values: evaluates the calls that depend on parameters and constants alone.
//
//   %t = permute(%w, [1, 0])                        %t = constant
//   %y = mm(%x, %t)              (%w: parameter) =>  %y = mm(%x, %t)
//
// Only roots are materialised: folded calls that a call outside reads, or that are results. One
// evaluation of the subgraph computes all of them. Calls that only create values (full, arange)
// are not folded.
#include <map>
#include <set>

#include "engine/ir/data_flow.h"
#include "engine/ir/rebuild.h"
#include "engine/passes/freezing.h"
#include "engine/passes/freezing/frozen_values.h"
#include "engine/passes/pass.h"

namespace recut {
namespace passes {

PassResult conv_bn_folding(const Graph& graph);
PassResult binary_folding(const Graph& graph);
PassResult quantized_products(const Graph& graph);
PassResult prepacked_weights(const Graph& graph);

}  // namespace passes

std::span<const Pass> freezing_passes() {
  static const Pass kPasses[] = {
      {"quantized_products", "Multiplies integers instead of dequantized operands.",
       passes::quantized_products, true, false},
      {"conv_bn_folding", "Folds batch norms by running statistics into convolutions.",
       passes::conv_bn_folding, true, false},
      {"binary_folding", "Folds constants into convolutions and matrix products.",
       passes::binary_folding, true, false},
      {"prepacked_weights", "Lays out frozen weights in the order of their reads.",
       passes::prepacked_weights, true, true},
  };
  return kPasses;
}

namespace {

class FrozenFolder {
 public:
  FrozenFolder(const Graph& graph, const Inputs& values) : graph_(graph), values_(values) {}

  Result<Frozen> run() {
    find_computed();
    if (roots_.empty()) return finish(graph_, {});
    const auto computed = compute();
    if (!computed) return computed.diagnostics();
    return replace(computed->outputs);
  }

 private:
  // Tells whether a node has a value or is computed from such nodes alone.
  bool known(NodeId id) {
    if (graph_.op(id).is(kInput)) return values_.count(id) != 0 && frozen_.contains(graph_, id);
    return known_.count(id) != 0;
  }

  // Roots are known calls with an unknown reader, or results.
  void find_computed() {
    for (const NodeId id : graph_.order()) {
      const Operator& op = graph_.op(id);
      if (op.is(kInput) || !frozen_.contains(graph_, id) || op.is(kCreation)) continue;
      bool all = true;
      for (const NodeId operand : graph_[id].operands)
        all = all && (known(operand) || graph_.op(operand).is(kCreation));
      if (all) known_.insert(id);
    }
    const auto take = [&](NodeId id) {
      if (id.valid() && known_.count(id) != 0 && !graph_.op(id).multiple_outputs())
        roots_.insert(id);
    };
    for (const NodeId id : graph_.order())
      if (known_.count(id) == 0)
        for (const NodeId operand : graph_[id].operands) take(operand);
    for (const NodeId id : graph_.results) take(id);
  }

  Result<Evaluation> compute() const {
    const std::vector<NodeId> roots(roots_.begin(), roots_.end());
    Graph folded_graph = with_nodes(graph_, needed_nodes(graph_, roots));
    folded_graph.results = roots;
    folded_graph.gradients.clear();
    Inputs inputs;
    for (const NodeId id : folded_graph.order())
      if (folded_graph.op(id).is(kInput)) {
        const auto it = values_.find(id);
        if (it != values_.end()) inputs.emplace(id, it->second);
      }
    return evaluate(folded_graph, inputs);
  }

  Result<Frozen> replace(const std::vector<Tensor>& computed) {
    std::map<NodeId, Tensor> fresh;
    std::size_t at = 0;
    std::map<NodeId, std::size_t> output_index;
    for (const NodeId id : roots_) output_index.emplace(id, at++);
    const Graph to =
        rebuild(graph_, [&](Graph& graph, NodeId old, const std::vector<Argument>& arguments) {
          const auto it = output_index.find(old);
          if (it == output_index.end()) return keep_node(graph_, graph, old, arguments);
          const NodeId id = graph.add_constant(graph_.type(old), graph_.origin(old));
          fresh.emplace(id, computed[it->second]);
          return id;
        });
    return finish(to, fresh);
  }

  // Removes dead nodes and parameters; inputs stay, since they are the graph's signature.
  Result<Frozen> finish(const Graph& graph, const std::map<NodeId, Tensor>& fresh) const {
    std::vector<bool> keep = needed_nodes(graph, graph.results);
    for (const NodeId id : graph.inputs())
      if (graph.input_kind(id) != InputKind::parameter) keep[graph.position(id)] = true;
    Frozen frozen{with_nodes(graph, keep), {}};
    frozen.graph.gradients.clear();
    for (const NodeId id : frozen.graph.order()) {
      if (const auto it = fresh.find(id); it != fresh.end())
        frozen.values.emplace(id, it->second);
      else if (const auto old = values_.find(id); old != values_.end())
        frozen.values.emplace(*old);
    }
    return frozen;
  }

  const Graph& graph_;
  const Inputs& values_;
  FrozenValues frozen_;
  std::set<NodeId> known_;
  std::set<NodeId> roots_;
};

}  // namespace

Result<Frozen> fold_frozen(const Graph& graph, const Inputs& values) {
  return FrozenFolder(graph, values).run();
}

}  // namespace recut
