// Offline dynamic storage allocation: packs buffers with known lifetimes into one arena. The input
// is intervals with sizes, the output is offsets.
//
//   offset
//     |  +---+ +-------+
//     |  | b | |   c   |       a packing: rectangles, lifetime by size, which may only be moved
//     |  +---+-+-+-----+       vertically, and don't overlap
//     |  |   a   |
//     +--+-------+-------> time
//
// The problem is NP-hard (Garey & Johnson 1979, SR2). The algorithm:
//   1. Compress time to the points at which a buffer dies after one was born; pack ranges of time
//      that no buffer spans independently.
//   2. Greedy packings by several orders, each interval at its lowest free offset (largest first as
//      in TensorFlow Lite; area; contended points first as in TelaMalloc, Maas et al., ASPLOS
//      2023), and skyline packings, which leave a hole only where the bound can afford it (Moffitt,
//      MiniMalloc, ASPLOS 2023).
//   3. While the bound isn't reached: squeaky-wheel optimization (Joslin & Clements 1999), as in
//      the allocator of Arm's Vela. An interval that doesn't fit below a target moves in front of
//      one that conflicts with it. Targets are found by bisection.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/schedule/arena_interval.h"

namespace recut {

struct ArenaPacking {
  std::vector<std::int64_t> offsets;  // by interval; 0 for empty ones
  std::int64_t height = 0;            // maximum of offset + size
  std::int64_t lower_bound = 0;       // maximum live size: no packing is lower

  bool optimal() const { return height == lower_bound; }
};

// The maximum of the total live size over time.
std::int64_t max_live_bytes(std::span<const ArenaInterval> intervals);

// The lowest packing that is found. Sizes are at least 0, and their sum is below 2^62; if all are
// multiples of a number, so are the offsets. `effort` scales the work limit of the search (1: the
// default; 0: only greedy packings). Work is counted in steps, so the result doesn't depend on the
// machine. Greedy packings take near linear time. There is no search if more than eight million
// pairs of intervals overlap in time.
ArenaPacking pack_arena(std::span<const ArenaInterval> intervals, double effort = 1);

}  // namespace recut
