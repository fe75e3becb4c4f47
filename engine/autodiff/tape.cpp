#include "engine/autodiff/tape.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_set>

#include "engine/ir/external_operator.h"

namespace recut::autodiff {

Builder::Location location_of_derivative(const Graph& graph, NodeId call) {
  const Origin& origin = graph.origin(call);
  return {origin.module, origin.seq_nr,
          fmt::format("the derivative of %{} ({})", origin.name, graph.op(call).name),
          origin.source};
}

void MissingRules::add(Builder& b, NodeId node) {
  const Operator& op = b.graph().op(node);
  Missing& missing = missing_.try_emplace(op.name, Missing{op.op, {}, 0}).first->second;
  if (missing.calls++ == 0)
    missing.first = b.subject().empty() ? "%" + b.graph().node_name(node) : b.subject();
}

std::string MissingRules::first() const {
  return fmt::format("{} has no derivative rule", missing_.begin()->first);
}

Diagnostics MissingRules::diagnostics() const {
  Diagnostics list;
  for (const auto& [name, missing] : missing_)
    list.push_back(
        error(fmt::format("{} has no derivative rule: {} needs it{}{}", name, missing.first,
                          missing.calls > 1 ? fmt::format(", and {} more", missing.calls - 1) : "",
                          expansion_tip(missing.op))));
  return list;
}

bool is_real(const Graph& graph, NodeId node) {
  const auto& outputs = graph[node].outputs;
  if (graph.op(node).multiple_outputs()) return true;
  return !outputs.empty() && has_gradient(outputs.front().dtype);
}

namespace {

bool any_active(const std::vector<NodeId>& nodes, const std::function<bool(NodeId)>& active) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](NodeId id) { return id.valid() && active(id); });
}

// For one output of a call with several. Outputs that the rule excludes are not active.
bool is_active_output(const Graph& graph, NodeId item, const std::function<bool(NodeId)>& active) {
  const Node& node = graph[item];
  const NodeId whole = *node.arguments[0].get<NodeId>();
  const DerivativeRule* rule = find_derivative_rule(graph[whole].op);
  const bool counts = rule == nullptr || *node.arguments[1].get<std::int64_t>() < rule->outputs;
  return counts && has_gradient(node.type().dtype) && active(whole);
}

}  // namespace

bool is_active(const Graph& graph, NodeId call, const std::function<bool(NodeId)>& active) {
  const Node& node = graph[call];
  if (node.op == Op::getitem) return is_active_output(graph, call, active);
  if (graph.op(call).is(kInput) || !is_real(graph, call)) return false;
  const DerivativeRule* rule = find_derivative_rule(node.op);
  if (rule == nullptr || rule->kind == DerivativeKind::decomposition)
    return any_active(node.operands, active);
  const Call::TypesOf types_of = [&](NodeId id) { return graph.pool().types_of(id); };
  const Call read(operator_of(node.op), node.arguments, types_of);
  for (const Partial& p : rule->partials)
    if (read.op().parameter(p.parameter) && any_active(read.nodes(p.parameter), active))
      return true;
  return false;
}

std::vector<NodeId> backward_slice(const Graph& graph, std::span<const NodeId> outputs,
                                   const std::function<bool(NodeId)>& is_boundary) {
  std::vector<NodeId> found;
  std::unordered_set<std::uint32_t> seen;  // asked only, never walked
  const std::function<void(NodeId)> visit = [&](NodeId id) {
    if (!id.valid() || is_boundary(id) || !seen.insert(id.index).second) return;
    for (const NodeId operand : graph[id].operands) visit(operand);
    found.push_back(id);
  };
  for (const NodeId id : outputs) visit(id);
  return found;
}

ComplexRule complex_rule_of(const Graph& graph, NodeId call) {
  const Node& node = graph[call];
  const Call::TypesOf types_of = [&](NodeId id) { return graph.pool().types_of(id); };
  const bool complex =
      first_dtype(node.arguments, node.outputs, types_of, is_complex) != DType::none;
  return complex ? complex_rule(node.op) : ComplexRule::plain;
}

Value conjugated(const Value& gradient, ComplexRule rule) {
  const bool applies =
      rule == ComplexRule::conjugated && gradient.valid() && is_complex(gradient.dtype());
  return applies ? (*gradient.builder())(Op::_conj_physical, {gradient}) : gradient;
}

Gradients conjugated(Gradients gradients, ComplexRule rule) {
  for (Value& gradient : gradients) gradient = conjugated(gradient, rule);
  return gradients;
}

Value fitted(const Value& value, const TensorType& type) {
  if (!value.valid()) return value;
  return sum_to(value.builder()->convert(value, type.dtype), type.shape);
}

DecomposedCall decompose(const DerivativeRule& rule, VjpContext& context, const Node& call) {
  DecomposedCall decomposed;
  decomposed.outputs = rule.decomposition(context);
  std::vector<NodeId> ids;
  for (const Value& v : decomposed.outputs) ids.push_back(v.id());
  decomposed.tape = backward_slice(context.b.graph(), ids, [&](NodeId id) {
    return std::find(call.operands.begin(), call.operands.end(), id) != call.operands.end();
  });
  return decomposed;
}

}  // namespace recut::autodiff
