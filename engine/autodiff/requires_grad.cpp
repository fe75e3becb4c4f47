#include "engine/autodiff/requires_grad.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/autodiff/tape.h"
#include "engine/ir/graph_signature.h"
#include "engine/ir/node_diagnostic.h"

// Activity is one forward pass over the graph. Updates of buffers are recognised by their form,
// since ATen graphs do not mark them:
//
//   mul(%stat, 0.1) + mul(%running, 0.9)  |  lerp(%running, %stat, 0.1)  |  outputs 3 and 4 of
//   _native_batch_norm_legit_functional   |  add(%count, 1) of an integer input
//
// where the buffer is an input, no parameter, of the node's own shape and dtype. Copies and casts
// between the update and the result are looked through.

namespace recut::autodiff {
namespace {

bool is_differentiable_input(const Graph& graph, NodeId id) {
  return has_gradient(graph.type(id).dtype) && graph.input_kind(id) != InputKind::tangent;
}

// The dtype of a call that its rule doesn't know; none if the rule holds. A rule of real numbers
// would give a gradient of zero for complex ones, or a wrong one.
DType dtype_without_rule(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  const Operator& op = graph.op(id);
  const Call::TypesOf types_of = [&](NodeId operand) { return graph.pool().types_of(operand); };
  const DType dtype = dtype_without_arithmetic(node.arguments, node.outputs, types_of);
  if (dtype == DType::none || !has_values(dtype)) return dtype;
  if (op.is(kInput) || node.op == Op::getitem) return DType::none;
  const ComplexRule rule = complex_rule(node.op);
  const bool holds = is_complex(dtype) ? rule != ComplexRule::none : rule == ComplexRule::plain;
  return holds ? DType::none : dtype;
}

std::vector<NodeId> default_inputs(const Graph& graph) {
  std::vector<NodeId> parameters, all;
  for (const NodeId id : graph.inputs()) {
    if (!is_differentiable_input(graph, id)) continue;
    all.push_back(id);
    if (graph.input_kind(id) == InputKind::parameter) parameters.push_back(id);
  }
  return parameters.empty() ? all : parameters;
}

}  // namespace

Result<std::vector<NodeId>> inputs_requiring_grad(
    const Graph& graph, const std::optional<std::vector<std::string>>& names) {
  for (const NodeId id : graph.order())
    if (const DType dtype = dtype_without_rule(graph, id); dtype != DType::none)
      return node_diagnostic(graph, id,
                             fmt::format("derivatives of {} aren't known yet in {}",
                                         graph.op(id).name, short_name(dtype)));
  if (!names) return default_inputs(graph);
  Diagnostics wrong;
  for (const std::string& name : *names) {
    const NodeId id = graph.find(name);
    if (!id.valid() || !graph.is_input(id))
      wrong.push_back(error(fmt::format("there is no input {}", name)));
    else if (!is_differentiable_input(graph, id))
      wrong.push_back(error(fmt::format("{} is {}: only real and complex inputs have gradients",
                                        name, format(graph.type(id)))));
  }
  if (!wrong.empty()) return wrong;
  std::vector<NodeId> requires_grad;
  for (const NodeId id : graph.inputs())
    if (std::find(names->begin(), names->end(), graph.node_name(id)) != names->end())
      requires_grad.push_back(id);
  return requires_grad;
}

std::vector<bool> active_nodes(const Graph& graph, const std::vector<NodeId>& inputs) {
  std::vector<bool> active(graph.order().size(), false);
  for (const NodeId id : inputs) active[graph.position(id)] = true;
  for (const NodeId id : graph.order())
    if (!active[graph.position(id)])
      active[graph.position(id)] =
          is_active(graph, id, [&](NodeId operand) { return active[graph.position(operand)]; });
  return active;
}

namespace {

bool is_buffer_like(const Graph& graph, NodeId input, const TensorType& type) {
  return graph.is_input(input) && graph.input_kind(input) == InputKind::input &&
         graph.type(input).shape == type.shape && graph.type(input).dtype == type.dtype;
}

// The tensor operand of a product with a number; invalid for any other call.
NodeId scaled_by_number(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  const bool product = node.op == Op::mul_Tensor || node.op == Op::mul_Scalar;
  return product && node.operands.size() == 1 && node.arguments[1].get<NodeId>() == nullptr
             ? node.operands.front()
             : NodeId();
}

// The buffer of number * statistic + number * buffer, in either order.
NodeId buffer_of_momentum_sum(const Graph& graph, const Node& node) {
  if (node.op != Op::add_Tensor || node.operands.size() != 2) return NodeId();
  const NodeId a = scaled_by_number(graph, node.operands[0]);
  const NodeId b = scaled_by_number(graph, node.operands[1]);
  if (!a.valid() || !b.valid()) return NodeId();
  for (const NodeId id : {b, a})
    if (is_buffer_like(graph, id, node.type())) return id;
  return NodeId();
}

// Outputs 3 and 4 of a batch normalisation are its running mean and variance; arguments 3 and 4
// are the old ones.
bool is_running_statistic(const Graph& graph, const Node& node) {
  if (node.op != Op::getitem) return false;
  const Op whole = graph[*node.arguments[0].get<NodeId>()].op;
  return whole == Op::_native_batch_norm_legit_functional &&
         *node.arguments[1].get<std::int64_t>() >= 3;
}

NodeId buffer_of_running_statistic(const Graph& graph, const Node& node) {
  const Node& whole = graph[*node.arguments[0].get<NodeId>()];
  const auto output = static_cast<std::size_t>(*node.arguments[1].get<std::int64_t>());
  const NodeId* buffer = whole.arguments[output].get<NodeId>();
  return buffer != nullptr && is_buffer_like(graph, *buffer, node.type()) ? *buffer : NodeId();
}

NodeId counted_input(const Graph& graph, const Node& node) {
  const bool counts = node.op == Op::add_Tensor && node.operands.size() == 1 &&
                      is_integral(node.type().dtype) && node.arguments[1].get<std::int64_t>();
  return counts && is_buffer_like(graph, node.operands[0], node.type()) ? node.operands[0]
                                                                        : NodeId();
}

NodeId behind_copies(const Graph& graph, NodeId id) {
  const auto is_copy = [&] {
    const Op op = graph[id].op;
    return op == Op::copy || op == Op::clone || op == Op::alias || op == Op::detach ||
           op == Op::prims_convert_element_type || op == Op::_to_copy;
  };
  while (is_copy()) id = graph[id].operands.back();
  return id;
}

NodeId buffer_updated_by(const Graph& graph, NodeId node) {
  const Node& made = graph[behind_copies(graph, node)];
  if (is_running_statistic(graph, made)) return buffer_of_running_statistic(graph, made);
  if (made.op == Op::lerp_Scalar && is_buffer_like(graph, made.operands.front(), made.type()))
    return made.operands.front();
  const NodeId counted = counted_input(graph, made);
  return counted.valid() ? counted : buffer_of_momentum_sum(graph, made);
}

bool tells_mutations(const Graph& graph) {
  return graph.signature != nullptr && !graph.signature->mutations.empty();
}

}  // namespace

bool updates_buffer(const Graph& graph, std::size_t result) {
  const NodeId id = graph.results[result];
  if (!id.valid()) return false;
  if (tells_mutations(graph)) return mutation_of(graph, result) != nullptr;
  return is_running_statistic(graph, graph[behind_copies(graph, id)]) ||
         buffer_updated_by(graph, id).valid();
}

NodeId updated_buffer(const Graph& graph, std::size_t result) {
  const NodeId id = graph.results[result];
  if (!id.valid()) return {};
  return tells_mutations(graph) ? mutated_input(graph, result) : buffer_updated_by(graph, id);
}

std::vector<std::size_t> differentiable_results(const Graph& graph,
                                                const std::vector<NodeId>& requires_grad) {
  const std::vector<bool> active = active_nodes(graph, requires_grad);
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < graph.results.size(); ++i) {
    const NodeId id = graph.results[i];
    if (id.valid() && active[graph.position(id)] && !updates_buffer(graph, i)) indices.push_back(i);
  }
  return indices;
}

}  // namespace recut::autodiff
