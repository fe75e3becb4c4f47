// The kernels that measure a GPU's ceilings, as CUDA C++ for NVRTC (calibration.cuh).
#pragma once

#include <cstdint>

namespace recut::cuda {

inline constexpr std::int64_t kCalibrationThreads = 256;  // per block
inline constexpr std::int64_t kChains = 16;               // multiply-adds in each thread

// `triad`: a = b + 0.5 c, 16 bytes a thread. `multiply_adds_…`: `rounds` times kChains
// multiply-adds in registers, none of which waits for its neighbours. `nothing`: an empty launch.
extern const char* const kCalibrationKernels;

}  // namespace recut::cuda
