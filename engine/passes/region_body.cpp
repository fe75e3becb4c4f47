// Copies of regions keep the recorded types of their calls, so their inputs get the recorded
// layouts.
#include "engine/passes/region_body.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "engine/ir/call.h"
#include "engine/ir/copy.h"
#include "engine/ir/data_flow.h"
#include "engine/ir/laid_out.h"
#include "engine/support/text.h"

namespace recut {
namespace {

// Divisions of integers by a number other than 0 can't fail.
bool divides_by_number(const Graph& region, NodeId id) {
  const auto& arguments = region[id].arguments;
  if (arguments.size() < 2) return false;
  const auto divisor = Scalar::from(arguments[1]);
  return divisor && divisor->real != 0 && divisor->integer != -1 && divisor->integer != 0;
}

// Probabilities and means that are data may be out of range, and so may numbers.
bool draw_may_fail(const Graph& region, NodeId id) {
  const Operator& op = region.op(id);
  if (op.op == Op::bernoulli || op.op == Op::poisson || op.op == Op::multinomial) return true;
  const Call::TypesOf types_of = [&](NodeId operand) { return region.pool().types_of(operand); };
  const Call call(op, region[id].arguments, types_of);
  if (op.op == Op::geometric) return !(call.real("p") > 0 && call.real("p") < 1);
  if (op.op == Op::bernoulli_p) return !(call.real("p") >= 0 && call.real("p") <= 1);
  if (!op.parameter("high")) return false;
  return call.integer("high") <= (op.parameter("low") ? call.integer("low") : 0);
}

bool may_fail(const Graph& region, NodeId id) {
  const Operator& op = region.op(id);
  if (draws_anew(op)) return draw_may_fail(region, id);
  if (is_external(op.op) || op.is(kRandom | kScatterGather | kLinearAlgebra | kDataDependent |
                                  kReadsStorage | kCollective | kWait | kInput))
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

// Its calls and constants that a result needs, in order. A write whose tensor isn't read any more
// leaves others behind.
std::vector<NodeId> needed_calls(const Graph& region) {
  const std::vector<bool> live = live_nodes(region);
  std::vector<NodeId> calls;
  for (const NodeId id : region.order())
    if (!region.is_input(id) && live[region.position(id)]) calls.push_back(id);
  return calls;
}

}  // namespace

std::optional<std::string> why_not_inlined(const Graph& graph, const Graph& region) {
  if (region.device != graph.device)
    return fmt::format("the nested graph {} is on {}, and the call on {}", quote(region.name),
                       region.device.empty() ? "no named device" : region.device,
                       graph.device.empty() ? "no named device" : graph.device);
  for (const NodeId id : needed_calls(region)) {
    const Operator& op = region.op(id);
    if (op.is(kInput)) return fmt::format("{} is a constant of its own", node_of(region, id));
    if (op.is(kReadsStorage))
      return fmt::format("{} addresses the storage of its operand", node_of(region, id));
    if (is_external(op.op))
      return fmt::format("{} calls '{}', which Recut doesn't know", node_of(region, id), op.name);
  }
  return std::nullopt;
}

std::optional<std::string> why_not_untaken(const Graph& region) {
  for (const NodeId id : needed_calls(region))
    if (may_fail(region, id))
      return fmt::format("{} may fail where the branch isn't taken", node_of(region, id));
  return std::nullopt;
}

std::vector<NodeId> copy_region(Graph& to, const Graph& region, RegionRunNumber number,
                                std::span<const NodeId> inputs) {
  std::map<NodeId, NodeId> images;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const NodeId input = region.inputs()[i];
    images[input] = laid_out(to, inputs[i], region.type(input));
  }
  for (const NodeId id : needed_calls(region)) {
    const Node& node = region[id];
    auto arguments = arguments_with(node, [&](NodeId operand) { return images.at(operand); });
    if (const Operator& op = operator_of(node.op); draws_anew(op)) {
      const auto* draw = arguments[*op.parameter("draw")].get<std::int64_t>();
      arguments[*op.parameter("draw")] = draw_of_run(number, draw == nullptr ? 0 : *draw);
    }
    images[id] = to.append(node.op, std::move(arguments), node.outputs, region.origin(id));
  }
  std::vector<NodeId> results;
  for (const NodeId id : region.results) results.push_back(id.valid() ? images.at(id) : NodeId());
  return results;
}

}  // namespace recut
