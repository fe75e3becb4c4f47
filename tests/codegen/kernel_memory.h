// Memory for trial runs of a kernel, and the interpreter's result.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/codegen/loop/kernel.h"
#include "engine/codegen/loop/scalar_semantics.h"
#include "engine/support/result.h"

namespace recut::test {

inline constexpr std::uint64_t kCodeSeed = 7;  // of the random numbers that kernels draw

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

// Runs a kernel on memory; 0, or the number of what is wrong with the data. Fails where it can't.
using Machine = std::function<Result<std::int64_t>(KernelMemory&)>;

// "" where the machine leaves what the interpreter does: equal bits (any NaN is a NaN), or reals
// that are no more than `last_places` of their dtype's least steps apart; and where both find the
// data at fault. `left`: what the machine leaves.
std::string difference_to_interpreter(const loop::Kernel& kernel, const KernelMemory& before,
                                      const Machine& machine, int last_places,
                                      KernelMemory* left = nullptr);

}  // namespace recut::test
