// Functions of compiled code, and how they are launched.
#pragma once

#include <span>
#include <string_view>

#include "native/cuda/driver_api.h"
#include "native/cuda/gpu.h"

namespace recut::cuda {

struct Function {
  driver::FunctionHandle handle = nullptr;
  unsigned blocks = 1, threads = 1, shared_bytes = 0;
  bool is_cooperative = false;  // all blocks must be resident at once
};

// Puts all functions of a kernel on the stream, one after another. They have the same parameters,
// to which `arguments` point. Fails with the kernel's name where the driver refuses one.
Result<Done> launch(const Gpu& gpu, driver::StreamHandle stream,
                    std::span<const Function> functions, void** arguments, std::string_view kernel);

}  // namespace recut::cuda
