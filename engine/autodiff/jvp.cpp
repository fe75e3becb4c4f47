#include "engine/autodiff/canonical_order.h"
#include "engine/autodiff/differentiate.h"
#include "engine/autodiff/dual_level.h"
#include "engine/autodiff/requires_grad.h"
#include "engine/autodiff/tape.h"
#include "engine/ir/copy.h"
#include "engine/ir/graph_signature.h"

namespace recut {
namespace {

using autodiff::Seed;

// Copies `from` into `to`; returns the copies by position in `from`. Tangents of a joint graph
// become inputs, since its gradients become results.
std::vector<NodeId> draft_of(const Graph& from, Graph& to) {
  std::vector<NodeId> drafted(from.order().size());
  const auto image = [&](NodeId id) { return drafted[from.position(id)]; };
  for (const NodeId id : from.order()) {
    NodeId& made = drafted[from.position(id)];
    made = copy_node(from, id, to, from.origin(id), image);
    if (from.is_input(id) && from.input_kind(id) == InputKind::tangent)
      to.set_input_kind(made, InputKind::input);
  }
  for (const auto& [alias, id] : from.aliases()) to.add_alias(alias, image(id));
  return drafted;
}

// Places of the results that are there.
std::vector<std::size_t> present_results(const Graph& graph) {
  std::vector<std::size_t> present;
  for (std::size_t i = 0; i < graph.results.size(); ++i)
    if (graph.results[i].valid()) present.push_back(i);
  return present;
}

// These results, then the gradients that are there.
std::vector<NodeId> outputs_of(const Graph& graph) {
  std::vector<NodeId> outputs;
  for (const std::size_t i : present_results(graph)) outputs.push_back(graph.results[i]);
  for (const NodeId id : graph.gradients)
    if (id.valid()) outputs.push_back(id);
  return outputs;
}

// The graph's signature, as far as its results stay, with the new dual numbers.
GraphSignature signature_of(const Graph& graph, const Jvp& made, int level) {
  GraphSignature signature = with_results(without_tangents(graph), present_results(graph));
  for (std::size_t i = 0; i < made.inputs.size(); ++i)
    signature.dual_inputs.push_back({made.graph.node_name(made.inputs[i]),
                                     made.graph.node_name(made.input_tangents[i]), level});
  for (std::size_t i = 0; i < made.primal.size(); ++i)
    signature.dual_results.push_back({made.primal[i], made.tangents[i], level});
  return signature;
}

}  // namespace

Result<Jvp> jvp(const Graph& graph, const GradOptions& options) {
  const auto inputs = autodiff::inputs_requiring_grad(graph, options.requires_grad);
  if (!inputs) return inputs.diagnostics();
  const auto level = autodiff::free_dual_level(graph, options.level);
  if (!level) return level.diagnostics();
  Graph draft;
  const auto drafted = draft_of(graph, draft);
  const auto image = [&](NodeId id) { return drafted[graph.position(id)]; };
  Builder b(draft);
  std::vector<Seed> seeds, outputs;
  std::vector<NodeId> input_tangents;
  for (const NodeId id : *inputs) {
    const Value tangent = b.placeholder(
        InputKind::input, draft.unused_name(graph.node_name(id) + "_tangent"), graph.type(id));
    input_tangents.push_back(tangent.id());
    seeds.push_back({image(id), tangent});
  }
  const auto ends = outputs_of(graph);
  for (const NodeId id : ends) outputs.push_back({image(id), {}});
  autodiff::MissingRules missing_rules;
  autodiff::TapeTrace trace;
  const auto tangents = autodiff::push_forward(b, drafted, seeds, outputs, missing_rules, &trace);
  if (!missing_rules.empty()) return missing_rules.diagnostics();
  for (const Seed& output : outputs) draft.results.push_back(output.node);
  Jvp made{graph.empty_like(), *inputs, {}, {}, {}};
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (!has_gradient(graph.type(ends[i]).dtype)) continue;
    made.primal.push_back(i);
    made.tangents.push_back(draft.results.size());
    const Value zero = tangents[i].valid() ? tangents[i] : autodiff::zeros(b, graph.type(ends[i]));
    draft.results.push_back(zero.id());
  }
  if (b.diagnostic()) return *b.diagnostic();
  autodiff::CanonicalGraph copy = autodiff::in_canonical_order(draft, trace.call_starts, graph);
  for (const NodeId id : input_tangents) made.input_tangents.push_back(copy.of(draft, id));
  made.graph = std::move(copy.graph);
  set_signature(made.graph, signature_of(graph, made, *level));
  return made;
}

}  // namespace recut
