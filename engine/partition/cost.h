// What a run of a node costs in time, from shapes alone: the price unit of plans.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "engine/ir/graph.h"

namespace recut {

// What a device sustains. Defaults: one H100 on tf32 matrix products and on copies, and launches
// that cost nothing.
struct DeviceRates {
  DeviceRates() { flops_per_second.fill(3.0e14); }

  double flops_of(DType dtype) const { return flops_per_second[static_cast<std::size_t>(dtype)]; }
  double& flops_of(DType dtype) { return flops_per_second[static_cast<std::size_t>(dtype)]; }

  std::array<double, kDTypes> flops_per_second;  // of products, by the dtype that they multiply
  double bytes_per_second = 3.0e12;
  double launch_micros = 0;  // of every kernel, whatever it does
  bool measured = false;     // calls of which the graph has a measured time take that
};

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

// The time that counts where `rates` ask for measured ones and the graph has one.
std::optional<double> measured_micros(const Graph& graph, NodeId id, const DeviceRates& rates);

}  // namespace recut
