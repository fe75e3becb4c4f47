#include "engine/passes/smaller_extents.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/ir/call.h"
#include "engine/ir/copy.h"
#include "engine/ir/type.h"

namespace recut {
namespace {

using Smaller = std::function<std::int64_t(std::int64_t)>;

// The strides of a dense type of this shape, with the dimensions in the order that they have in
// `like`.
Strides dense_strides(const Shape& shape, const Strides& like) {
  std::vector<std::size_t> inner_first(shape.size());
  std::iota(inner_first.begin(), inner_first.end(), std::size_t{0});
  std::reverse(inner_first.begin(), inner_first.end());
  std::stable_sort(inner_first.begin(), inner_first.end(),
                   [&](std::size_t a, std::size_t b) { return like[a] < like[b]; });
  Strides strides(shape.size());
  std::int64_t step = 1;
  for (const std::size_t d : inner_first) {
    strides[d] = step;
    step *= std::max<std::int64_t>(1, shape[d]);
  }
  return strides;
}

TensorType with_extents_of(TensorType type, const Smaller& smaller) {
  const Strides before = type.strides;
  for (std::int64_t& size : type.shape) size = smaller(size);
  type.strides = dense_strides(type.shape, before);
  return type;
}

void replace(Argument& argument, const Smaller& smaller) {
  if (auto* number = std::get_if<std::int64_t>(&argument.value)) *number = smaller(*number);
  if (auto* list = std::get_if<ArgumentList>(&argument.value))
    for (Argument& item : *list) replace(item, smaller);
}

}  // namespace

std::set<std::int64_t> extents_of(const Graph& graph) {
  std::set<std::int64_t> extents;
  for (const NodeId id : graph.order())
    for (const TensorType& type : graph[id].outputs)
      for (const std::int64_t size : type.shape)
        if (size > 1) extents.insert(size);
  return extents;
}

std::optional<Graph> with_extents(const Graph& graph, const Smaller& smaller) {
  Graph to = graph.empty_like();
  std::vector<NodeId> map(graph.order().size());
  const auto mapped = [&](NodeId id) { return id.valid() ? map[graph.position(id)] : id; };
  for (std::size_t i = 0; i < map.size(); ++i) {
    const NodeId id = graph.order()[i];
    const Node& node = graph[id];
    if (node.op == Op::placeholder) {
      map[i] = to.add_input(graph.input_kind(id), with_extents_of(node.type(), smaller),
                            graph.origin(id));
      continue;
    }
    if (graph.op(id).is(kInput)) {
      map[i] = to.add_constant(with_extents_of(node.type(), smaller), graph.origin(id));
      continue;
    }
    std::vector<Argument> arguments = arguments_with(node, mapped);
    for (Argument& argument : arguments) replace(argument, smaller);
    auto made = to.make(node.op, std::move(arguments), graph.origin(id));
    if (!made) return std::nullopt;
    map[i] = *made;
  }
  for (const NodeId id : graph.results) to.results.push_back(mapped(id));
  for (const NodeId id : graph.gradients) to.gradients.push_back(mapped(id));
  return to;
}

}  // namespace recut
