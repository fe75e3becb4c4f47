// A device, as far as anything decides by it: the one description that passes, planner and code
// generators read. A profile (device_profile.h) gives its figures; of a GPU that is there, its
// driver gives the rest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/ir/dtype.h"

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

// The limits of a GPU's streaming multiprocessors (SMs) that decide how sums are shared out.
struct SmLimits {
  bool clusters = false;  // thread block clusters: compute capability 9.0
  int count = 0;          // each has a block of 1024 threads; 0: nothing is known of them
};
inline constexpr SmLimits kSmLimitsOfA100{false, 108}, kSmLimitsOfH100{true, 132};

// Defaults: the reference that plans are priced by, and near to one H100.
struct Device {
  // By how much libraries are slower at least on products whose rows aren't aligned, where nobody
  // measured it: they lose a fourth to nine tenths there.
  static constexpr double kGuessedSlowdown = 2;

  Device() { unaligned_slowdown.fill(kGuessedSlowdown); }

  double slowdown_of(DType dtype) const {
    return unaligned_slowdown[static_cast<std::size_t>(dtype)];
  }
  double& slowdown_of(DType dtype) { return unaligned_slowdown[static_cast<std::size_t>(dtype)]; }

  DeviceRates rates;  // sustained
  // By dtype, f32 as it is multiplied: how many times longer a product takes whose rows don't begin
  // at addresses that wide loads and tensor cores ask for.
  std::array<double, kDTypes> unaligned_slowdown;
  bool f32_uses_tf32 = true;  // tensor cores compute products and convolutions of f32, in tf32
  bool runs_step = false;     // the step runs on this device, whichever the graph names
};

}  // namespace recut
