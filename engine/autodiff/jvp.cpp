#include <fmt/format.h>

#include "engine/autodiff/differentiate.h"
#include "engine/autodiff/tape.h"
#include "engine/autodiff/wanted.h"
#include "engine/ir/rebuild.h"

namespace recut {
namespace {

using autodiff::Seed;

// Tangents of a joint graph become inputs, since its gradients become results.
void copy_of(const Graph& from, Graph& to) {
  for (const NodeId id : from.order()) {
    const Node& node = from[id];
    const auto kind = [&] {
      const InputKind given = from.input_kind(id);
      return given == InputKind::tangent ? InputKind::input : given;
    };
    if (node.op == Op::placeholder)
      to.add_input(kind(), node.type(), from.origin(id));
    else
      to.append(node.op, node.arguments, node.outputs, from.origin(id));
  }
  for (const auto& [alias, id] : from.aliases()) to.add_alias(alias, id);
}

std::vector<NodeId> outputs_of(const Graph& graph) {
  std::vector<NodeId> outputs;
  for (const NodeId id : graph.results)
    if (id.valid()) outputs.push_back(id);
  for (const NodeId id : graph.gradients)
    if (id.valid()) outputs.push_back(id);
  return outputs;
}

}  // namespace

Result<Jvp> jvp(const Graph& graph, const GradOptions& options) {
  const auto wanted = autodiff::wanted_inputs(graph, options.wanted);
  if (!wanted) return wanted.diagnostics();
  Jvp made{graph.fresh(), *wanted, {}, {}, {}};
  copy_of(graph, made.graph);
  Builder b(made.graph);
  std::vector<Seed> seeds, outputs;
  for (const NodeId id : *wanted) {
    const Value tangent = b.placeholder(
        InputKind::input, made.graph.unused_name(graph.node_name(id) + "_tangent"), graph.type(id));
    made.input_tangents.push_back(tangent.id());
    seeds.push_back({id, tangent});
  }
  const auto ends = outputs_of(graph);
  for (const NodeId id : ends) outputs.push_back({id, {}});
  autodiff::Gaps gaps;
  const auto tangents = autodiff::push_forward(b, graph.order(), seeds, outputs, gaps);
  if (!gaps.empty()) return gaps.diagnostics();
  made.graph.results = ends;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (!is_floating(graph.type(ends[i]).dtype)) continue;
    made.primal.push_back(i);
    made.tangents.push_back(made.graph.results.size());
    const Value zero = tangents[i].valid() ? tangents[i] : autodiff::zeros(b, graph.type(ends[i]));
    made.graph.results.push_back(zero.id());
  }
  if (b.complaint()) return *b.complaint();
  made.graph = without_dead_nodes(made.graph);
  return made;
}

}  // namespace recut
