#include "native/cuda/function.h"

#include <fmt/core.h>

namespace recut::cuda {

Result<Done> launch(const Gpu& gpu, driver::StreamHandle stream,
                    std::span<const Function> functions, void** arguments,
                    std::string_view kernel) {
  for (const Function& function : functions) {
    const driver::Functions& driver = gpu.driver();
    const driver::Status status =
        function.is_cooperative
            ? driver.cuLaunchCooperativeKernel(function.handle, function.blocks, 1, 1,
                                               function.threads, 1, 1, function.shared_bytes,
                                               stream, arguments)
            : driver.cuLaunchKernel(function.handle, function.blocks, 1, 1, function.threads, 1, 1,
                                    function.shared_bytes, stream, arguments, nullptr);
    if (status != driver::kSuccess)
      return gpu.done(status, fmt::format("kernel '{}' isn't launched", kernel));
  }
  return Done{};
}

}  // namespace recut::cuda
