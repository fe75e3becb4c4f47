#include "engine/autodiff/wanted.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/autodiff/tape.h"

namespace recut::autodiff {
namespace {

bool is_differentiable_input(const Graph& graph, NodeId id) {
  return is_floating(graph.type(id).dtype) && graph.input_kind(id) != InputKind::tangent;
}

std::vector<NodeId> usual_inputs(const Graph& graph) {
  std::vector<NodeId> parameters, all;
  for (const NodeId id : graph.inputs()) {
    if (!is_differentiable_input(graph, id)) continue;
    all.push_back(id);
    if (graph.input_kind(id) == InputKind::parameter) parameters.push_back(id);
  }
  return parameters.empty() ? all : parameters;
}

}  // namespace

Result<std::vector<NodeId>> wanted_inputs(const Graph& graph,
                                          const std::optional<std::vector<std::string>>& names) {
  if (!names) return usual_inputs(graph);
  Diagnostics wrong;
  for (const std::string& name : *names) {
    const NodeId id = graph.find(name);
    if (!id.valid() || !graph.is_input(id))
      wrong.push_back(error(fmt::format("there is no input {}", name)));
    else if (!is_differentiable_input(graph, id))
      wrong.push_back(error(
          fmt::format("{} is {}: only real inputs have gradients", name, format(graph.type(id)))));
  }
  if (!wrong.empty()) return wrong;
  std::vector<NodeId> wanted;
  for (const NodeId id : graph.inputs())
    if (std::find(names->begin(), names->end(), graph.node_name(id)) != names->end())
      wanted.push_back(id);
  return wanted;
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

// The operands through which an old value of a buffer reaches its new one: sums, products with
// numbers, interpolation, conversions and copies.
bool passes_buffers_on(Op op) {
  switch (op) {
    case Op::add_Tensor:
    case Op::sub_Tensor:
    case Op::mul_Tensor:
    case Op::lerp_Scalar:
    case Op::copy:
    case Op::clone:
    case Op::alias:
    case Op::detach:
    case Op::prims_convert_element_type:
    case Op::_to_copy:
      return true;
    default:
      return false;
  }
}

bool is_buffer_like(const Graph& graph, NodeId input, const TensorType& type) {
  return graph.is_input(input) && graph.input_kind(input) == InputKind::input &&
         graph.type(input).shape == type.shape && graph.type(input).dtype == type.dtype;
}

bool is_running_statistic(const Graph& graph, const Node& node) {
  if (node.op != Op::getitem) return false;
  const Op whole = graph[*node.arguments[0].get<NodeId>()].op;
  return whole == Op::_native_batch_norm_legit_functional &&
         *node.arguments[1].get<std::int64_t>() >= 3;
}

}  // namespace

bool updates_buffer(const Graph& graph, NodeId node) {
  if (is_running_statistic(graph, graph[node])) return true;
  const TensorType& type = graph.type(node);
  std::vector<NodeId> open{node};
  for (int steps = 0; !open.empty() && steps < 16; ++steps) {
    const NodeId id = open.back();
    open.pop_back();
    if (id != node && is_buffer_like(graph, id, type)) return true;
    if (!passes_buffers_on(graph[id].op)) continue;
    for (const NodeId operand : graph[id].operands)
      if (graph.type(operand).shape == type.shape) open.push_back(operand);
  }
  return false;
}

std::vector<std::size_t> differentiable_results(const Graph& graph,
                                                const std::vector<NodeId>& wanted) {
  const std::vector<bool> active = active_nodes(graph, wanted);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < graph.results.size(); ++i) {
    const NodeId id = graph.results[i];
    if (id.valid() && active[graph.position(id)] && !updates_buffer(graph, id)) places.push_back(i);
  }
  return places;
}

}  // namespace recut::autodiff
