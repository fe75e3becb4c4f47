// What a run of a node costs in time, from shapes alone: the price unit of plans.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/cost/device.h"
#include "engine/ir/graph.h"

namespace recut {

// Floating-point operations of matrix products, convolutions and attention; 0 for all others, whose
// time is that of their memory traffic.
std::int64_t node_flops(const Graph& graph, NodeId id);

// Bytes read and written: every distinct operand once and every output once. Views, inputs and
// constants move nothing.
std::int64_t node_traffic(const Graph& graph, NodeId id);

// Seconds of its arithmetic alone, and microseconds of one run: the launch, then the longer of
// computing and moving (the roofline model: Williams, Waterman, Patterson 2009). Views, inputs and
// constants take no time. The gradients of a convolution are two kernels: that of the input, and
// those of weight and bias.
double node_computing(const Graph& graph, NodeId id, const DeviceRates& rates);
double node_micros(const Graph& graph, NodeId id, const DeviceRates& rates);

// The time that counts where `rates` ask for measured ones and the graph has one, or where they
// have it of the kernel that the call is by itself.
std::optional<double> measured_micros(const Graph& graph, NodeId id, const DeviceRates& rates);

// A kind of kernel, by what the model says of it.
enum class KernelKind : std::uint8_t { products, memory, launches };

// A kernel as the model has it: so many seconds of arithmetic in products, and so much traffic.
struct ModelledKernel {
  double computing = 0;
  std::int64_t bytes = 0;

  KernelKind kind(const DeviceRates& rates) const;
  double micros(const DeviceRates& rates) const;  // corrected
};

}  // namespace recut
