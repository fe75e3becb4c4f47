// The cost model of nodes: the time of one run from shapes alone. Plans are compared by it.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/cost/device.h"
#include "engine/ir/graph.h"

namespace recut {

// Floating-point operations of matrix products, convolutions and attention. 0 for all other
// operators, whose time is that of their memory traffic.
std::int64_t node_flops(const Graph& graph, NodeId id);

// Bytes read and written: every distinct operand once and every output once. Views, inputs and
// constants move nothing.
std::int64_t node_traffic(const Graph& graph, NodeId id);

// Seconds of arithmetic alone, and microseconds of one run: the launch, then the longer of
// arithmetic and memory traffic (the roofline model: Williams, Waterman, Patterson 2009). Views,
// inputs and constants take no time. A convolution_backward counts as two kernels: one for the
// gradient of the input, one for those of weight and bias. A collective takes the longer of its
// traffic and the time on the link (collective_time.h).
double node_compute_seconds(const Graph& graph, NodeId id, const DeviceRates& rates);
double node_micros(const Graph& graph, NodeId id, const DeviceRates& rates);

// The measured time of a call: from the graph if `rates.measured` is set, or from the measured
// kernel times in `rates`.
std::optional<double> measured_micros(const Graph& graph, NodeId id, const DeviceRates& rates);

// The kind of a kernel, by its bottleneck in the model.
enum class KernelKind : std::uint8_t { products, memory, launches };

// A modelled kernel: seconds of arithmetic in products, and bytes of traffic.
struct ModelledKernel {
  double compute_seconds = 0;
  std::int64_t bytes = 0;

  KernelKind kind(const DeviceRates& rates) const;
  double micros(const DeviceRates& rates) const;  // corrected
};

}  // namespace recut
