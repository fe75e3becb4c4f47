// What this machine sustains, measured: the figures of a device profile
// (engine/cost/device_profile.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "engine/support/result.h"

namespace recut::cpu {

struct CalibrationRequest {
  int threads = 1;
  double seconds = 0.3;  // about as long for each figure
  // Of each of the three arrays that the triad reads and writes; 0: as large as all caches together
  // at least.
  std::int64_t triad_bytes = 0;
  std::function<void(std::string_view what)> progress = [](std::string_view) {};
};

// All of them per second, by all threads together. Ceilings are the best of several runs, achieved
// rates the median.
struct Calibration {
  double triad_bytes = 0;        // ceiling: a = b + 0.5 c in f32, as one of Recut's own kernels
  double multiply_adds_f32 = 0;  // ceilings: multiply_adds.h
  double multiply_adds_f64 = 0;
  double products_f32 = 0;  // achieved, operations: 512 x 512 x 512
  double products_f64 = 0;
  double convolutions_f32 = 0;  // achieved, operations: 32 channels to 64, 3 x 3
  double element_wise_f32 = 0;  // achieved, elements: silu, within caches
  double launch_micros = 0;     // of a kernel of 16,384 elements, all of it
};

// Runs everything as a step is run: planned kernels, compiled for this processor, in one arena.
Result<Calibration> calibrate(const CalibrationRequest& request);

}  // namespace recut::cpu
