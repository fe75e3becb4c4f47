// Launch parameters of the functions of a text in CUDA C++.
#pragma once

#include <cstdint>
#include <string>

namespace recut::cuda {

// One __global__ function; launches of a kernel run one after another on one stream.
struct Launch {
  std::string symbol;             // extern "C"
  std::int64_t blocks = 1;        // of the grid, one-dimensional
  int threads = 1;                // of a block, one-dimensional, a multiple of 32 unless 1
  std::int64_t shared_bytes = 0;  // dynamic shared memory; above 48 KiB it needs an attribute
  int cluster = 1;                // thread block cluster of sm_90; divides the number of blocks
  // The clusters are cooperative groups instead, which synchronize through global memory, also on
  // sm_80. All blocks have to be resident at once: a cooperative launch
  // (cudaLaunchCooperativeKernel).
  bool cooperative = false;
};

// The matmul precision of attention in f32: three tf32 products, which keep 21 bits of the
// mantissa, or operands rounded to tf32 (PyTorch: float32_matmul_precision).
enum class MatmulPrecision : std::uint8_t { f32, tf32 };

}  // namespace recut::cuda
