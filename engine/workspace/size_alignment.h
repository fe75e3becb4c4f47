// Aligns two sequences of allocations, measured and planned, by their order and sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace recut {

// One allocation. The numbers are the caller's; 0: not known.
struct SizedItem {
  std::int64_t bytes = 0;
  std::uint32_t line = 0;  // of the program
  std::uint32_t node = 0;  // of the graph
  std::uint32_t kind = 0;  // measured: the innermost frame; planned: the operator
  bool at_peak = false;    // alive at the peak of its side
};

inline constexpr std::int64_t kAllocatorUnit = 512;  // bytes; PyTorch's allocator rounds up to them

// `bytes` at most 2^60.
inline std::int64_t rounded_to_unit(std::int64_t bytes) {
  return (bytes + kAllocatorUnit - 1) / kAllocatorUnit * kAllocatorUnit;
}

// Pairs of equal rounded size, rising on both sides: a heaviest common subsequence. A pair weighs
// more the larger it is, where line or node agree, and where both are alive at their peaks. A
// second round prefers the operator that each frame was paired with most often in the first. Far
// from the diagonal nothing is paired where the sequences are long. Takes O(n * m), at most 2^27
// cells of two bits.
std::vector<std::pair<std::size_t, std::size_t>> align_sizes(std::span<const SizedItem> measured,
                                                             std::span<const SizedItem> planned);

}  // namespace recut
