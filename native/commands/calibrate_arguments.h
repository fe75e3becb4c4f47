// The request of recut calibrate, and the functions that serve it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "native/commands/command.h"
#include "native/console.h"
#include "native/cuda/gpu.h"

namespace recut::native {

struct CalibrateCommand {
  GraphArguments graph;  // whose kernels are measured; no path: none
  std::string target = "cpu";
  int threads = 0;  // of a processor; 0: one per core
  double seconds = 0.3;
  std::int64_t triad_bytes = 0;
  std::string precision = "f32";  // of a GPU's f32 products
  std::string workspace;          // the most that its libraries may take; "": the default
  std::string out;
  bool json = false;
};

// Both return the exit code.
int calibrate_cpu(CalibrateCommand command, const Console& console);
int calibrate_cuda(const CalibrateCommand& command, const Console& console);

// An open GPU to calibrate, with the code of the kernels (none: NVRTC makes it) and the rows of the
// products.
struct GpuToCalibrate {
  cuda::SharedGpu gpu;
  std::optional<std::string> code;
  std::int64_t product = 8192;
};
int calibrate_gpu(const CalibrateCommand& command, const GpuToCalibrate& with,
                  const Console& console);

// The error where no output is named and no settings folder exists.
Diagnostic no_settings_folder();

}  // namespace recut::native
