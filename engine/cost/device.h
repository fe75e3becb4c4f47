// The description of a device that passes, planner and code generators read. A device profile
// (device_profile.h) gives its figures; the driver of a present GPU gives the rest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/ir/dtype.h"

namespace recut {

class KernelTimes;  // measured_kernels.h

// Measured over modelled times, by kind of kernel; 1 if not measured.
struct Corrections {
  double products = 1;  // with a matrix product, convolution or attention
  double memory = 1;    // others whose traffic takes longer than a launch
  double launches = 1;  // all others
};
inline constexpr double kMinCorrection = 0.01, kMaxCorrection = 100;  // of a device profile

// The link between the ranks of a group, as one of them sees it: its rate while it sends and
// receives, and the latency of a step. Defaults: the NVLink of an H100 within a host.
struct Link {
  double bytes_per_second = 3.2e11;
  double micros = 2;
};

// Sustained rates of a device. Defaults: an H100 on tf32 matrix products and on copies, with
// launches that cost nothing.
struct DeviceRates {
  DeviceRates() { flops_per_second.fill(3.0e14); }

  double flops_of(DType dtype) const { return flops_per_second[static_cast<std::size_t>(dtype)]; }
  double& flops_of(DType dtype) { return flops_per_second[static_cast<std::size_t>(dtype)]; }

  std::array<double, kDTypes> flops_per_second;  // of products, by the dtype that they multiply
  double bytes_per_second = 3.0e12;
  double launch_micros = 0;  // of every kernel
  Link link;
  bool measured = false;    // use the measured times of the graph's calls
  Corrections corrections;  // of kernels without a measured time
  std::shared_ptr<const KernelTimes>
      kernel_times;  // of the graph's kernels; null if there are none
};

// The limits of a GPU's streaming multiprocessors (SMs) that decide how sums are shared out.
struct SmLimits {
  bool clusters = false;  // thread block clusters: compute capability 9.0
  int count = 0;          // each has a block of 1024 threads; 0: nothing is known of them
};
inline constexpr SmLimits kSmLimitsOfA100{false, 108}, kSmLimitsOfH100{true, 132};

// Defaults: the reference device of the cost model, close to an H100.
struct Device {
  // The assumed slowdown of library products with unaligned rows if it was not measured. Libraries
  // lose a fourth to nine tenths of their speed there.
  static constexpr double kGuessedSlowdown = 2;

  Device() { unaligned_slowdown.fill(kGuessedSlowdown); }

  double slowdown_of(DType dtype) const {
    return unaligned_slowdown[static_cast<std::size_t>(dtype)];
  }
  double& slowdown_of(DType dtype) { return unaligned_slowdown[static_cast<std::size_t>(dtype)]; }

  DeviceRates rates;  // sustained
  // By dtype (f32 as it is multiplied): the factor on the time of a product whose rows are not
  // aligned for wide loads and tensor cores.
  std::array<double, kDTypes> unaligned_slowdown;
  bool f32_uses_tf32 = true;  // tensor cores compute products and convolutions of f32, in tf32
  bool runs_step = false;     // the step runs on this device, whichever the graph names
};

}  // namespace recut
