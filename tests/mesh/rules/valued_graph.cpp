#include "tests/mesh/rules/valued_graph.h"

#include <fmt/format.h>

#include <stdexcept>

#include "engine/eval/inputs.h"
#include "engine/input/text.h"
#include "engine/support/check.h"

namespace recut::test {
namespace {

// The calls whose values an evaluation gives: outputs of a call that has several are those that the
// graph selects.
Graph with_all_results(const Graph& from) {
  Graph graph = from;
  graph.results.clear();
  graph.gradients.clear();
  for (const NodeId id : graph.order())
    if (!graph.op(id).multiple_outputs() && !graph.op(id).is(kInput)) graph.results.push_back(id);
  return graph;
}

void take_selected(const Graph& graph, NodeId id, std::map<NodeId, std::vector<Tensor>>& values) {
  const NodeId from = graph[id].operands.front();
  auto& outputs = values[from];
  outputs.resize(graph[from].outputs.size());
  outputs[static_cast<std::size_t>(*graph[id].arguments[1].get<std::int64_t>())] =
      values[id].front();
}

}  // namespace

Result<ValuedGraph> with_values(Graph graph, const Inputs& inputs) {
  const Graph all = with_all_results(graph);
  EvaluateOptions options;
  options.seed = 3;
  const auto evaluation = evaluate(all, inputs, options);
  if (!evaluation) return evaluation.diagnostics();
  ValuedGraph valued{std::move(graph), {}};
  for (const auto& [id, tensor] : inputs) valued.values[id] = {tensor};
  for (std::size_t i = 0; i < all.results.size(); ++i)
    valued.values[all.results[i]] = {evaluation->outputs[i]};
  for (const NodeId id : valued.graph.order())
    if (valued.graph[id].op == Op::getitem) take_selected(valued.graph, id, valued.values);
  return valued;
}

ValuedGraph valued(std::string_view text) {
  auto graph = parse_graph_text(text, "test");
  if (!graph) throw std::runtime_error(format(graph.diagnostics()));
  const auto inputs = inputs_from(*graph, {}, 7);
  RECUT_CHECK(inputs.ok(), "inputs can be drawn");
  auto found = with_values(std::move(*graph), *inputs);
  if (!found) throw std::runtime_error(format(found.diagnostics()));
  return std::move(*found);
}

mesh::ConcreteCall concrete_call(const ValuedGraph& valued, NodeId id) {
  mesh::ConcreteCall call{&valued.graph, id, {}};
  for (const NodeId operand : mesh::operand_nodes(valued.graph[id].arguments))
    call.operands.push_back(valued.values.at(operand));
  return call;
}

RuleReport check_rules(const ValuedGraph& valued, std::int64_t ranks) {
  RuleReport report;
  for (const NodeId id : valued.graph.order()) {
    const Operator& op = valued.graph.op(id);
    if (op.is(kInput) || op.op == Op::getitem) continue;
    const mesh::Validation found = mesh::validate_rule(concrete_call(valued, id), ranks, 3);
    report.tried += found.tried;
    for (const mesh::WrongStrategy& wrong : found.wrong)
      report.problems += fmt::format("{} on {} ranks, {}: {}\n", op.name, ranks,
                                     format(wrong.strategy), wrong.problem);
  }
  return report;
}

std::string strategies_of(const Graph& graph, std::string_view node, std::int64_t ranks) {
  std::string text;
  for (const mesh::Strategy& strategy :
       strategies(mesh::sharding_rule(graph, graph.find(node)), ranks))
    text += format(strategy) + "\n";
  return text;
}

Tensor numbers(DType dtype, Shape shape, const std::vector<double>& values) {
  Tensor tensor = allocate(make_type(dtype, std::move(shape)), nullptr);
  Reals reals(tensor.shape);
  reals.data = values;
  pack(reals, tensor);
  return tensor;
}

std::vector<double> numbers_of(const Tensor& tensor) { return unpack<double>(tensor).data; }

}  // namespace recut::test
