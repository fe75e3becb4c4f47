// CUDA kernels without a GPU: compiled as C++ and run by fibres (cuda_shim.h), where there is a
// compiler.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "engine/codegen/cuda/emit.h"
#include "engine/codegen/loop/kernel.h"
#include "engine/support/result.h"

namespace recut::test {

class CudaOnCpu {
 public:
  static Result<CudaOnCpu> compile(cuda::Module module);

  // Runs the launches of a kernel; 0, or the number of what is wrong with the data.
  std::int64_t run(std::size_t kernel, std::span<void* const> buffers, std::uint64_t seed) const;
  // Those of a library's kernel, which is attention.
  void run_library(std::size_t kernel, std::span<void* const> buffers, void* workspace) const;

  const cuda::Module& module() const { return module_; }

 private:
  void launch(std::span<const cuda::Launch> launches, void** given) const;
  CudaOnCpu(cuda::Module module, std::shared_ptr<void> library)
      : module_(std::move(module)), library_(std::move(library)) {}

  cuda::Module module_;
  std::shared_ptr<void> library_;
};

// Whether there is a compiler, and no sanitizer that minds fibres.
bool has_compiler();

// What the compiler says of a text that is no CUDA; "" where it is.
std::string cuda_compile_errors(const std::string& text);

// "" where the kernels leave what the interpreter does (kernel_memory.h), functions of CUDA's
// library within a few of the last places; and where there is no compiler.
std::string cuda_difference(std::span<const loop::Kernel> kernels, std::uint64_t seed,
                            int last_places = 0, const cuda::Options& options = {});

}  // namespace recut::test
