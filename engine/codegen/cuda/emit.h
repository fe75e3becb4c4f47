// The loop form as CUDA C++: what NVRTC and nvcc take for sm_80 and up, and what is read on screen.
//
//   parallel %i in 0..1024 lanes 8      a grid of threads: one iteration each, or as many as 16
//   { ... }                             bytes hold
//   parallel %i in 0..64 {              a group of threads an iteration: 8, 16 or 32 of a warp, or
//     for %j in 0..512 lanes 32 … }     a block, which share out the inner loops
//
// A function of the text takes a pointer for each brought buffer of its kernel, in order, then
// `long long seed` and `long long* fault`; of attention (cuda/attention.h), after its buffers, one
// to its workspace. It is compiled without fast math and with --fmad=false: products are fused with
// sums only where the loop form says so.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/codegen/cuda/launch.h"
#include "engine/codegen/library/library_kernel.h"
#include "engine/codegen/loop/kernel.h"
#include "engine/codegen/lower/lower.h"
#include "engine/cost/device.h"

namespace recut::cuda {

struct Options {
  std::int64_t most_blocks = (std::int64_t{1} << 31) - 1;  // what CUDA allows; fewer: for tests
  Factors factors = Factors::f32;
};

// How calls are lowered for a card: sums of rows in as many lanes as a block has, or a cluster of
// blocks; sums that lie side by side also by all of the card, where they are few and long.
loop::LowerOptions lower_options(const SmLimits& limits);

struct Module {
  std::string text;
  std::vector<std::vector<Launch>> kernels;  // by kernel
  std::vector<std::vector<Launch>> library;  // by the library's kernel: of attention
  // By line of the text: which of its kernel's notes it is from (loop/kernel.h); kNoNote: none.
  std::vector<std::uint32_t> notes;
  // What is wrong where `*fault`, 0 before, is n afterwards: faults[n - 1]. The data's fault; what
  // the kernel wrote is then of no use.
  std::vector<std::string> faults;
};

// Of sound kernels (loop/verifier.h).
Module emit(std::span<const loop::Kernel> kernels, const Options& options = {});

// And of a library's kernels those that are attention (takes_attention()); the others are a
// library's of NVIDIA's.
Module emit(std::span<const loop::Kernel> kernels, std::span<const library::Kernel> library,
            const Options& options = {});

}  // namespace recut::cuda
