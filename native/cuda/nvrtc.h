// CUDA C++ to GPU code, by NVIDIA's run-time compiler. It needs no GPU.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/support/result.h"
#include "native/cuda/shared_library.h"

namespace recut::cuda {

// The part of nvrtc.h that is used, in our own declarations (driver_api.h says why).
namespace nvrtc {

using ProgramHandle = struct ProgramOfNvrtc*;
enum Status : int { kSuccess = 0, kCompilation = 6 };

struct Functions {
#define RECUT_FUNCTION(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
#include "native/cuda/nvrtc_functions.def"
#undef RECUT_FUNCTION
};

}  // namespace nvrtc

class Nvrtc {
 public:
  // Fails where no version is found that works with a driver of this CUDA version.
  static Result<Nvrtc> load(int driver_major);

  std::string version() const;  // "13.0"

  // Code for GPUs of this capability (90: sm_90). Multiply-adds are fused only where the text
  // says so. Fails where the compiler doesn't know the capability or refuses the text. The latter
  // is Recut's own fault; the message has the kernel and the compiler's log.
  Result<std::string> compile(const std::string& text, int capability) const;

 private:
  Nvrtc() = default;
  bool knows(int capability) const;
  std::string log_of(nvrtc::ProgramHandle program) const;

  nvrtc::Functions functions_;
};

// The function of the text that has the log's first error; "" where there is none.
std::string function_of_error(std::string_view text, std::string_view log);

}  // namespace recut::cuda
