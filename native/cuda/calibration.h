// Measures the rates that a GPU sustains, as figures of a device profile
// (engine/cost/device_profile.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"
#include "native/cuda/gpu.h"

namespace recut::cuda {

struct GpuCalibrationRequest {
  double seconds = 0.3;  // for each figure, about, by the GPU's clock
  // Bytes of each of the three arrays of the triad; 0: several times the GPU's cache.
  std::int64_t triad_bytes = 0;
  // Rows, columns and sums of the largest matrix product.
  std::int64_t product = 8192;
  std::function<void(std::string_view what)> progress = [](std::string_view) {};
};

// The library's rate of matrix products of one operand type, in operations per second.
struct ProductRate {
  std::string name;   // as device profiles name it: "tf32"
  double best = 0;    // of the largest product, the quickest run
  double median = 0;  // of products of half as many rows and columns, and an eighth of the sums
  // The slowdown of a product with an eighth of the sums if its right operand and its result have
  // an odd number of columns.
  double unaligned_slowdown = 1;
};

// All of them per second. Ceilings are the best of several runs.
struct GpuCalibration {
  double triad_bytes = 0;        // ceiling: a = b + 0.5 c in f32, in arrays beyond the cache
  double multiply_adds_f32 = 0;  // ceilings, in registers, two operations each
  double multiply_adds_f64 = 0;
  std::vector<ProductRate> products;  // by operand type; f32 and tf32 at least
  double launch_micros = 0;           // of a kernel that does nothing, in a graph of many

  const ProductRate* product(std::string_view name) const;  // null where it wasn't measured
};

// The code of the kernels that the calibration runs. Fails where NVRTC is missing.
Result<std::string> calibration_code(const Gpu& gpu);

// Fails where the GPU lacks the memory, doesn't take the code, or a library is missing.
Result<GpuCalibration> calibrate(const SharedGpu& gpu, const std::string& code,
                                 const GpuCalibrationRequest& request);

}  // namespace recut::cuda
