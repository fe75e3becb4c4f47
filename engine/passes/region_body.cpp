// Copies of regions keep the recorded types of their calls, so their inputs get the recorded
// layouts:
//
//   region "f" { %a = input f32[2, 3]{1, 2} … }   =>   %t = permute(%x, [1, 0])   %c = clone(%t)
//                                                      %a = permute(%c, [1, 0])
#include "engine/passes/region_body.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "engine/ir/call.h"
#include "engine/ir/copy.h"
#include "engine/ir/dimension_order.h"
#include "engine/support/check.h"
#include "engine/support/text.h"

namespace recut {
namespace {

NodeId make_or_die(Graph& graph, Op op, std::vector<Argument> arguments) {
  auto made = graph.make(op, std::move(arguments));
  RECUT_CHECK(made.ok(), "the copy of a value fits its layout");
  return *made;
}

// Divisions of integers by a number other than 0 can't fail.
bool divides_by_number(const Graph& region, NodeId id) {
  const auto& arguments = region[id].arguments;
  if (arguments.size() < 2) return false;
  const auto divisor = Scalar::from(arguments[1]);
  return divisor && divisor->real != 0 && divisor->integer != -1 && divisor->integer != 0;
}

bool may_fail(const Graph& region, NodeId id) {
  const Operator& op = region.op(id);
  if (is_external(op.op) || op.is(kRandom | kImpure | kScatterGather | kLinearAlgebra |
                                  kDataDependent | kReadsStorage | kCollective | kWait | kInput))
    return true;
  // Divisions are the pointwise operators on integers that can fail, and none of them is cheap.
  if (!op.is(kPointwise) || op.is(kCheap) || divides_by_number(region, id)) return false;
  return std::any_of(
      region[id].outputs.begin(), region[id].outputs.end(), [](const TensorType& type) {
        return type.exists() && !is_floating(type.dtype) && type.dtype != DType::boolean;
      });
}

std::string node_of(const Graph& region, NodeId id) {
  return fmt::format("node {} of the nested graph {}", quote(region.node_name(id)),
                     quote(region.name));
}

}  // namespace

std::optional<std::string> why_not_inlined(const Graph& graph, const Graph& region) {
  if (region.device != graph.device)
    return fmt::format("the nested graph {} is on {}, and the call on {}", quote(region.name),
                       region.device.empty() ? "no named device" : region.device,
                       graph.device.empty() ? "no named device" : graph.device);
  for (const NodeId id : region.order()) {
    if (region.is_input(id)) continue;
    const Operator& op = region.op(id);
    if (op.is(kInput)) return fmt::format("{} is a constant of its own", node_of(region, id));
    if (op.is(kReadsStorage))
      return fmt::format("{} addresses the storage of its operand", node_of(region, id));
    if (is_external(op.op))
      return fmt::format("{} calls '{}', which Recut doesn't know", node_of(region, id), op.name);
    if (op.is(kRandom | kImpure))
      return fmt::format("{} draws random numbers", node_of(region, id));
  }
  return std::nullopt;
}

std::optional<std::string> why_not_untaken(const Graph& region) {
  for (const NodeId id : region.order())
    if (!region.is_input(id) && may_fail(region, id))
      return fmt::format("{} may fail where the branch isn't taken", node_of(region, id));
  return std::nullopt;
}

bool can_be_laid_out(const TensorType& from, const TensorType& to) {
  return from.exists() && (from == to || (is_dense(to) && from.device == to.device));
}

NodeId laid_out(Graph& graph, NodeId value, const TensorType& type) {
  if (graph.type(value) == type) return value;
  const auto contiguous = [&](NodeId id) {
    return make_or_die(graph, Op::clone, {id, "contiguous_format"});
  };
  if (is_contiguous(type)) return contiguous(value);
  const auto order = storage_order(type);
  const NodeId turned = make_or_die(graph, Op::permute, {value, Argument(order)});
  return make_or_die(graph, Op::permute, {contiguous(turned), Argument(inverse_order(order))});
}

std::vector<NodeId> copy_region(Graph& to, const Graph& region, std::span<const NodeId> inputs) {
  std::map<NodeId, NodeId> images;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const NodeId input = region.inputs()[i];
    images[input] = laid_out(to, inputs[i], region.type(input));
  }
  for (const NodeId id : region.order())
    if (!region.is_input(id))
      images[id] = copy_node(region, id, to, region.origin(id),
                             [&](NodeId operand) { return images.at(operand); });
  std::vector<NodeId> results;
  for (const NodeId id : region.results) results.push_back(id.valid() ? images.at(id) : NodeId());
  return results;
}

}  // namespace recut
