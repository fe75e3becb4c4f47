// Finds the device profile that a step on an NVIDIA GPU is planned by.
#pragma once

#include <string>

#include "engine/cost/device_profile.h"
#include "engine/ir/graph.h"
#include "native/cuda/precision.h"

namespace recut::native {

// The profile that plans a step of this graph on a GPU, with products of that precision. In order:
// `recut calibrate`'s measurement of the graph's kernels (not without a graph; none exist for
// bf16), its measurement of the GPU, the built-in data sheet of the GPU, the data sheet of another
// GPU (`known` is false). Fails where a written file is no profile.
struct FoundProfile {
  DeviceProfile profile;
  bool known = true;
};
Result<FoundProfile> find_gpu_profile(const std::string& gpu, const Graph* graph,
                                      cuda::Precision precision);

// The device as passes of a step see it, with library products in that precision.
Device device_of_step(const DeviceProfile& profile, cuda::Precision precision);

// The profile that --profile names, as find_device reads it; else the GPU's.
Result<FoundProfile> profile_on_gpu(const std::string& named, const std::string& gpu,
                                    const Graph* graph, cuda::Precision precision);

}  // namespace recut::native
