// A function of compiled code, and how it is launched.
#pragma once

#include "native/cuda/driver_api.h"

namespace recut::cuda {

struct Function {
  driver::FunctionHandle handle = nullptr;
  unsigned blocks = 1, threads = 1, shared_bytes = 0;
};

}  // namespace recut::cuda
