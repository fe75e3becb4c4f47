// A CUDA driver without a GPU: its memory is this process', its kernels are functions of the test,
// and a launch is done when it returns. Like a real driver it refuses threads without a context.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "native/cuda/driver_api.h"

namespace recut::test {

struct FakeKernel {
  std::size_t parameters = 0;  // each of 8 bytes
  std::function<void(void** arguments)> run;
};

// The state of the fake driver: one GPU in each process.
struct FakeGpu {
  std::map<std::string, FakeKernel> kernels;
  std::size_t total_bytes = std::size_t{64} << 20, used_bytes = 0;
  int capability = 90, driver_version = 13000, gpus = 1;
  int launches = 0, graph_launches = 0, changed_nodes = 0, cleared = 0;
  bool records = true;   // whether it allows stream capture
  float elapsed_ms = 2;  // between any two events
  float slower_ms = 0;   // added to each next event time
};
FakeGpu& fake_gpu();

cuda::driver::Functions fake_driver();

}  // namespace recut::test
