#include "engine/runtime/flop_count.h"

#include <algorithm>

#include "engine/cost/cost.h"

namespace recut {
namespace {

double elements(const Graph& graph, NodeId id) {
  double max = 0;
  const auto count = [&](NodeId node) {
    for (const TensorType& type : graph[node].outputs)
      if (type.exists() && is_floating(type.dtype))
        max = std::max(max, static_cast<double>(element_count(type.shape)));
  };
  count(id);
  for (const NodeId operand : graph[id].operands) count(operand);
  return max;
}

DType dtype_of(const Graph& graph, NodeId id) {
  for (const NodeId operand : graph[id].operands)
    if (is_floating(graph.type(operand).dtype)) return graph.type(operand).dtype;
  return graph.type(id).dtype;
}

}  // namespace

Arithmetic arithmetic_of(const Graph& graph, std::span<const NodeId> calls,
                         const DeviceRates& ceilings) {
  Arithmetic all;
  for (const NodeId id : calls) {
    const Operator& op = graph.op(id);
    if (op.is(kCopy | kCreation | kView)) continue;
    const std::int64_t counted = node_flops(graph, id);
    const double flops = counted > 0 ? static_cast<double>(counted) : elements(graph, id);
    all.flops += flops;
    all.seconds += flops / ceilings.flops_of(dtype_of(graph, id));
  }
  return all;
}

}  // namespace recut
