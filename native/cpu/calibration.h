// Measures the rates that this machine sustains, as figures of a device profile
// (engine/cost/device_profile.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "engine/support/result.h"

namespace recut::cpu {

struct CalibrationRequest {
  int threads = 1;
  double seconds = 0.3;  // for each figure, about
  // Bytes of each of the three arrays of the triad; 0: as large as all caches together, or
  // larger.
  std::int64_t triad_bytes = 0;
  std::function<void(std::string_view what)> progress = [](std::string_view) {};
};

// Rates per second of all threads together. Ceilings are the best of several runs, achieved rates
// the median.
struct Calibration {
  double triad_bytes = 0;        // ceiling: a = b + 0.5 c in f32, by a kernel of Recut
  double multiply_adds_f32 = 0;  // ceilings: multiply_adds.h
  double multiply_adds_f64 = 0;
  double products_f32 = 0;  // achieved, operations: 512 x 512 x 512
  double products_f64 = 0;
  double convolutions_f32 = 0;  // achieved, operations: 32 channels to 64, 3 x 3
  double element_wise_f32 = 0;  // achieved, elements: silu, within caches
  double launch_micros = 0;     // a whole kernel of 16,384 elements
};

// Runs everything as a step runs: planned kernels, compiled for this processor, in one arena.
Result<Calibration> calibrate(const CalibrationRequest& request);

}  // namespace recut::cpu
