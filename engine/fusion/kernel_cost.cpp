#include "engine/fusion/kernel_cost.h"

#include <optional>

#include "engine/cost/measured_kernels.h"
#include "engine/fusion/kernel_traffic.h"

namespace recut {

double kernel_micros(const Graph& graph, const StorageModel& storages, const FusionGroups& groups,
                     std::span<const NodeId> calls, const DeviceRates& rates) {
  if (!groups.fused()) return node_micros(graph, calls.front(), rates);
  if (calls.size() == 1) {
    if (const auto measured = measured_micros(graph, calls.front(), rates)) return *measured;
    const bool several_products = graph[calls.front()].op == Op::convolution_backward;
    if (several_products || graph.op(calls.front()).is(kCollective))
      return node_micros(graph, calls.front(), rates);
  }
  if (const auto measured =
          rates.kernel_times == nullptr ? std::nullopt : rates.kernel_times->of(calls))
    return *measured;
  return modelled_kernel(graph, storages, groups, calls, rates).micros(rates);
}

ModelledKernel modelled_kernel(const Graph& graph, const StorageModel& storages,
                               const FusionGroups& groups, std::span<const NodeId> calls,
                               const DeviceRates& rates) {
  ModelledKernel kernel;
  for (const NodeId id : calls) kernel.compute_seconds += node_compute_seconds(graph, id, rates);
  kernel.bytes = kernel_traffic(graph, storages, groups, calls);
  return kernel;
}

}  // namespace recut
