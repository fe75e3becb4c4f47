// Runs kernels, slowly and plainly: the meaning of the loop form, which tests hold lowerings and
// targets to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/codegen/loop/kernel.h"
#include "engine/support/result.h"

namespace recut::loop {

struct RunOptions {
  std::uint64_t seed = 0;           // of the kernel's random numbers
  bool parallel_backwards = false;  // parallel loops from their last iteration to their first
};

// Runs a sound kernel (verifier.h) on its buffers' memory, one span a buffer that the caller
// brings, each of exactly its bytes. Fails where the data is at fault: a check that doesn't hold,
// an integer divided by zero; and where a conditional access leaves its buffer.
Result<Done> run(const Kernel& kernel, std::span<const std::span<std::byte>> memory,
                 const RunOptions& options = {});

}  // namespace recut::loop
