// A call on numbers becomes the same call on tensors of them, and indices stay indices:
//
//   %b = index.Tensor(%buffer, [%h])            =>   the same, with %h of the shape [1, H, 1, 1]
//   %z = index_put(%zeros, [%h], %d, true)      =>   the same, with %h and %d of all elements
//   %t = new_ones(%b, [], dtype=bool)           =>   full([], true), which no index changes
#include "engine/passes/scalar_region.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "engine/ir/copy.h"
#include "engine/rewrite/splat_values.h"
#include "engine/support/text.h"

namespace recut {
namespace {

enum class ElementCall : std::uint8_t { common, number, pointwise, same, read, add, none };

bool reads_at_indices(Op op) { return op == Op::index_Tensor || op == Op::_unsafe_index_Tensor; }

// Tells the calls of a region that differ from element to element, and their form for all elements.
class ElementCalls {
 public:
  ElementCalls(const Graph& region, std::size_t numbers)
      : region_(region), splats_(region), differs_(region.order().size(), false) {
    for (std::size_t i = 0; i < numbers; ++i) differs_[region.position(region.inputs()[i])] = true;
  }

  // Calls come in order.
  ElementCall kind(NodeId id) {
    const Node& node = region_[id];
    if (is_number(id) && splats_.of(id) != nullptr) return ElementCall::number;
    const bool any = std::any_of(node.operands.begin(), node.operands.end(),
                                 [&](NodeId operand) { return differs(operand); });
    const ElementCall kind = any ? differing_kind(node) : ElementCall::common;
    differs_[region_.position(id)] = any && kind != ElementCall::add;
    return kind;
  }

  bool differs(NodeId id) const { return differs_[region_.position(id)]; }
  const SplatValue& splat(NodeId id) const { return *splats_.of(id); }

 private:
  bool is_number(NodeId id) const { return region_.type(id).shape.empty(); }

  bool are_indices(const Argument& argument) const {
    const auto* list = argument.get<ArgumentList>();
    return list != nullptr && std::all_of(list->begin(), list->end(), [&](const Argument& item) {
             const auto* id = item.get<NodeId>();
             return id != nullptr && is_number(*id) && is_integral(region_.type(*id).dtype);
           });
  }

  ElementCall differing_kind(const Node& node) const {
    const Operator& op = operator_of(node.op);
    const bool numbers = std::all_of(node.operands.begin(), node.operands.end(),
                                     [&](NodeId operand) { return is_number(operand); });
    const bool number = node.outputs.size() == 1 && node.type().shape.empty();
    const auto* self = node.arguments.empty() ? nullptr : node.arguments.front().get<NodeId>();
    if (reads_at_indices(node.op) && number && !differs(*self) && are_indices(node.arguments[1]))
      return ElementCall::read;
    if (node.op == Op::index_put && !differs(*self) && are_indices(node.arguments[1]) &&
        adds_number(node))
      return ElementCall::add;
    if (!numbers || !number) return ElementCall::none;
    if (op.is(kView) && !op.is(kReadsStorage)) return ElementCall::same;
    return op.is(kPointwise) && !op.is(kRandom) ? ElementCall::pointwise : ElementCall::none;
  }

  bool adds_number(const Node& node) const {
    const auto* value = node.arguments[2].get<NodeId>();
    const auto* accumulate = node.arguments[3].get<bool>();
    return value != nullptr && is_number(*value) && accumulate != nullptr && *accumulate;
  }

  const Graph& region_;
  const SplatAnalysis splats_;
  std::vector<bool> differs_;  // by position
};

class ElementwiseCopy {
 public:
  ElementwiseCopy(Builder& b, const Graph& region, const Shape& all)
      : b_(b), region_(region), all_(all) {}

  std::vector<ElementValue> run(const std::vector<ElementValue>& inputs) {
    std::size_t numbers = 0;
    while (numbers < inputs.size() && inputs[numbers].differs) ++numbers;
    ElementCalls calls(region_, numbers);
    for (std::size_t i = 0; i < inputs.size(); ++i) images_[region_.inputs()[i]] = inputs[i].value;
    for (const NodeId id : region_.order())
      if (!region_.is_input(id)) images_[id] = image(id, calls.kind(id), calls);
    std::vector<ElementValue> results;
    for (const NodeId id : region_.results)
      results.push_back(id.valid() ? ElementValue{images_.at(id), calls.differs(id)}
                                   : ElementValue{});
    return results;
  }

 private:
  Value image(NodeId id, ElementCall kind, const ElementCalls& calls) {
    const Node& node = region_[id];
    if (kind == ElementCall::number)
      return b_.full({}, as_argument(calls.splat(id)), node.type().dtype, node.type().device);
    if (kind == ElementCall::same) return images_.at(node.operands.front());
    auto arguments = arguments_with(node, [&](NodeId operand) { return images_.at(operand).id(); });
    if (kind == ElementCall::add) {
      for_each_node(arguments[1], [&](NodeId& index) { index = of_all(index); });
      for_each_node(arguments[2], [&](NodeId& value) { value = of_all(value); });
    }
    return b_.call(node.op, std::move(arguments));
  }

  NodeId of_all(NodeId id) { return b_.expand(b_.value(id), all_).id(); }

  Builder& b_;
  const Graph& region_;
  const Shape& all_;
  std::map<NodeId, Value> images_;
};

}  // namespace

std::optional<std::string> why_not_elementwise(const Graph& region, std::size_t numbers) {
  ElementCalls calls(region, numbers);
  for (const NodeId id : region.order())
    if (!region.is_input(id) && calls.kind(id) == ElementCall::none)
      return fmt::format(
          "node {} of the nested graph {}: Recut can't apply '{}' to all scores at once",
          quote(region.node_name(id)), quote(region.name), region.op(id).name);
  return std::nullopt;
}

std::vector<ElementValue> apply_elementwise(Builder& b, const Graph& region,
                                            const std::vector<ElementValue>& inputs,
                                            const Shape& all) {
  return ElementwiseCopy(b, region, all).run(inputs);
}

}  // namespace recut
