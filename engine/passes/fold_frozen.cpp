// Constant folding with values: evaluates the calls that depend on parameters and constants alone.
//
//   %t = permute(%w, [1, 0])                        %t = constant
//   %y = mm(%x, %t)              (%w: parameter) =>  %y = mm(%x, %t)
//
// Only roots are materialised: folded calls that a call outside reads, or that are results. One
// evaluation of the subgraph computes all of them. Calls that only create values (full, arange)
// are not folded, nor are collectives, which need the values of other ranks.
#include <algorithm>

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

// The calls that are computed from known values alone.
std::set<NodeId> known_calls(const Graph& graph, const Inputs& values) {
  FrozenValues frozen;
  std::set<NodeId> known;
  const auto is_known = [&](NodeId id) {
    if (graph.op(id).is(kInput)) return values.count(id) != 0 && frozen.contains(graph, id);
    return known.count(id) != 0;
  };
  for (const NodeId id : graph.order()) {
    const Operator& op = graph.op(id);
    if (op.is(kInput | kCreation | kCollective) || !frozen.contains(graph, id)) continue;
    const auto& operands = graph[id].operands;
    if (std::all_of(operands.begin(), operands.end(),
                    [&](NodeId it) { return is_known(it) || graph.op(it).is(kCreation); }))
      known.insert(id);
  }
  return known;
}

}  // namespace

FrozenFolder::FrozenFolder(const Graph& graph, const Inputs& values)
    : graph_(graph), values_(values) {
  find_roots(known_calls(graph, values));
}

// Roots are known calls with an unknown reader, or results.
void FrozenFolder::find_roots(const std::set<NodeId>& known) {
  std::set<NodeId> roots;
  const auto take = [&](NodeId id) {
    if (id.valid() && known.count(id) != 0 && !graph_.op(id).multiple_outputs()) roots.insert(id);
  };
  for (const NodeId id : graph_.order())
    if (known.count(id) == 0)
      for (const NodeId operand : graph_[id].operands) take(operand);
  for (const NodeId id : graph_.results) take(id);
  roots_.assign(roots.begin(), roots.end());
}

void FrozenFolder::begin() {
  computed_ = with_nodes(graph_, needed_nodes(graph_, roots_));
  computed_.results = roots_;
  computed_.gradients.clear();
  Inputs inputs;
  for (const NodeId id : computed_.order()) {
    if (!computed_.op(id).is(kInput)) continue;
    const auto it = values_.find(id);
    if (it != values_.end()) inputs.emplace(id, it->second);
  }
  evaluator_.emplace(computed_);
  if (auto begun = evaluator_->begin(inputs); !begun) faults_ = begun.diagnostics();
}

bool FrozenFolder::step() {
  if (roots_.empty()) return false;
  if (!evaluator_)
    begin();
  else if (auto ran = evaluator_->run(); !ran)
    faults_ = ran.diagnostics();
  return faults_.empty() && !evaluator_->done();
}

Result<Frozen> FrozenFolder::take() {
  if (!faults_.empty()) return faults_;
  if (roots_.empty()) return finish(graph_, {});
  const Evaluation computed = evaluator_->finish();
  std::map<NodeId, std::size_t> output_index;
  for (const NodeId id : roots_) output_index.emplace(id, output_index.size());
  std::map<NodeId, Tensor> fresh;
  const Graph to =
      rebuild(graph_, [&](Graph& graph, NodeId old, const std::vector<Argument>& arguments) {
        const auto it = output_index.find(old);
        if (it == output_index.end()) return keep_node(graph_, graph, old, arguments);
        const NodeId id = graph.add_constant(graph_.type(old), graph_.origin(old));
        fresh.emplace(id, computed.outputs[it->second]);
        return id;
      });
  return finish(to, fresh);
}

// Removes dead nodes and parameters; inputs stay, since they are the graph's signature.
Frozen FrozenFolder::finish(const Graph& graph, const std::map<NodeId, Tensor>& fresh) const {
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

Result<Frozen> fold_frozen(const Graph& graph, const Inputs& values) {
  FrozenFolder folder(graph, values);
  while (folder.step()) {
  }
  return folder.take();
}

}  // namespace recut
