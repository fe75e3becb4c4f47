// The loop form as CUDA C++ for sm_80 and up, for NVRTC, nvcc and display.
//
//   parallel %i in 0..1024 lanes 8      a grid of threads: one iteration each, or a vector
//   { ... }                             of up to 16 bytes
//   parallel %i in 0..64 {              a group of threads an iteration: 8, 16 or 32 of a warp, or
//     for %j in 0..512 lanes 32 … }     a block, among which the inner loops are divided
//
// A function of the text takes a pointer for each buffer but scratch, in order, then
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
  std::int64_t max_blocks = (std::int64_t{1} << 31) - 1;  // CUDA's limit; lower in tests
  MatmulPrecision matmul_precision = MatmulPrecision::f32;
};

// Lowering options for a GPU: row sums have as many lanes as a block has threads, or a cluster of
// blocks. Few and long column sums use cooperative groups of blocks, up to the whole GPU.
loop::LowerOptions lower_options(const SmLimits& limits);

struct Module {
  std::string text;
  std::vector<std::vector<Launch>> kernels;  // by kernel
  std::vector<std::vector<Launch>> library;  // by the library's kernel: of attention
  // By line of the text: the source location in its kernel (loop/kernel.h); kUnknownLocation:
  // unknown.
  std::vector<std::uint32_t> locations;
  // Messages of runtime errors. If `*fault`, 0 before, is n after a run, the error is faults[n -
  // 1]: bad data, and the kernel's results are undefined.
  std::vector<std::string> faults;
};

// The kernels must be verified (loop/verifier.h).
Module emit(std::span<const loop::Kernel> kernels, const Options& options = {});

// Also emits the library kernels that are attention (supports_attention()); the others call
// NVIDIA's libraries.
Module emit(std::span<const loop::Kernel> kernels, std::span<const library::Kernel> library,
            const Options& options = {});

}  // namespace recut::cuda
