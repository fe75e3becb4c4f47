// Kernels as machine code and by the loop form's interpreter, on the same memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/codegen/llvm/emit.h"
#include "engine/codegen/loop/kernel.h"
#include "engine/codegen/loop/scalar_meaning.h"
#include "native/cpu/jit.h"

namespace recut::test {

// The memory of a kernel's buffers.
class KernelMemory {
 public:
  explicit KernelMemory(const loop::Kernel& kernel);

  void set(std::size_t buffer, std::int64_t element, loop::Number number);
  loop::Number get(std::size_t buffer, std::int64_t element) const;

  // Reals from -2 to 2 with NaN, infinities and zeros of both signs among them, integers 0 and 1.
  void fill(std::uint64_t seed);

  std::vector<std::span<std::byte>> spans();
  std::vector<void*> addresses();

 private:
  const loop::Kernel* kernel_;
  std::vector<std::vector<std::byte>> bytes_;
};

// Runs the stages of a kernel, parallel ones in two parts; 0, or the number of what is wrong with
// the data.
std::int64_t run_stages(const cpu::Jit& jit, std::span<const llvm_ir::Stage> stages,
                        std::span<void* const> buffers, std::uint64_t seed);

// "" where both leave the same: equal bits (any NaN is a NaN), or reals that are no more than
// `last_places` of their dtype's least steps apart; and where both find the data at fault.
std::string machine_code_difference(std::span<const loop::Kernel> kernels, std::uint64_t seed,
                                    int last_places = 0);

// The same of memory in hand, of one kernel: what the code leaves.
std::string machine_code_difference(const loop::Kernel& kernel, const KernelMemory& memory,
                                    int last_places, KernelMemory* left = nullptr);

}  // namespace recut::test
