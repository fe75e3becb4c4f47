// What runs of a text in CUDA C++, and with how many threads.
#pragma once

#include <cstdint>
#include <string>

namespace recut::cuda {

// One __global__ function; launches of a kernel run one after another on one stream.
struct Launch {
  std::string symbol;             // extern "C"
  std::int64_t blocks = 1;        // of the grid, one-dimensional
  int threads = 1;                // of a block, one-dimensional, a multiple of 32 unless 1
  std::int64_t shared_bytes = 0;  // dynamic shared memory; above 48 KiB it must be asked for
  int cluster = 1;                // blocks that a card of sm_90 has at once; divides their number
  // Clusters are teams instead: blocks that meet through memory. All of the launch have to be there
  // at once, which a cooperative launch sees to; sm_80 is enough.
  bool teams = false;
};

// How attention multiplies f32: as it is, by three products of tf32 that leave 21 bits behind the
// point, or rounded to tf32.
enum class Factors : std::uint8_t { f32, tf32 };

}  // namespace recut::cuda
