// What a run of a node costs in time, from shapes alone: the price unit of plans.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "engine/ir/graph.h"

namespace recut {

class KernelPrices;  // measured_kernels.h

// By what factors kernels were slower than this model has them, by kind; 1: nobody measured that.
struct Corrections {
  double products = 1;  // with a matrix product, convolution or attention
  double memory = 1;    // of the others, those whose traffic takes longer than a launch
  double launches = 1;  // the rest
};
inline constexpr double kLeastCorrection = 0.01, kMostCorrection = 100;  // of a device profile

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
  Corrections corrections;   // of whatever has no measured time
  std::shared_ptr<const KernelPrices> prices;  // of the graph's kernels; null: none are known
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
