// A reference interpreter: it defines the semantics of the loop form, and tests compare lowerings
// and targets with it.
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

// Runs a verified kernel. `memory` has one span for each buffer that isn't scratch, of exactly its
// bytes. Fails on bad data (a check that doesn't hold, an integer division by zero), and on a
// conditional access outside of its buffer.
Result<Done> run(const Kernel& kernel, std::span<const std::span<std::byte>> memory,
                 const RunOptions& options = {});

}  // namespace recut::loop
