// Device profiles of NVIDIA GPUs, as recut calibrate writes them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "native/cuda/calibration.h"
#include "native/cuda/profiling.h"

namespace recut::native {

// A GPU as its device profile names it, and whether products of f32 are rounded to tf32.
struct GpuDescription {
  std::string name;    // "NVIDIA H100 80GB HBM3"
  std::string driver;  // the CUDA version that it knows
  bool tf32 = false;
};

// The profile of the GPU alone.
nlohmann::ordered_json gpu_profile(const GpuDescription& gpu, const cuda::GpuCalibration& measured);

// Adds the times of a graph's kernels, and the name of such a profile.
void add_kernels(nlohmann::ordered_json& profile, const GpuDescription& gpu,
                 const cuda::GraphProfile& measured);

}  // namespace recut::native
