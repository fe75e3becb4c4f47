// Packs what lives for a while into one arena: offline dynamic storage allocation. Nothing here
// knows a tensor: intervals with sizes go in, offsets come out.
//
//   offset
//     |  +---+ +-------+
//     |  | b | |   c   |       a packing: rectangles as wide as they live and as high as they are
//     |  +---+-+-+-----+       large, moved up and down only, no two on one another
//     |  |   a   |
//     +--+-------+-------> moment
//
// The question is NP-hard (Garey & Johnson 1979, SR2). What is done here:
//   1. Only moments at which something dies after something was born count; parts of time that
//      nothing spans are packed by themselves.
//   2. Greedy packings by several orders, each interval at its lowest free place (largest first as
//      in TensorFlow Lite; area; contended moments first as in TelaMalloc, Maas et al., ASPLOS
//      2023), and such in which all rises evenly from the ground and a hole is left only where the
//      bound can afford it (Moffitt, MiniMalloc, ASPLOS 2023).
//   3. While the bound isn't reached: what finds no room below a target goes before something that
//      took its place, over and over, as in squeaky-wheel optimisation (Joslin & Clements 1999) and
//      in the allocator of Arm's Vela; targets are tried by halving.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/schedule/arena_interval.h"

namespace recut {

struct ArenaPacking {
  std::vector<std::int64_t> offsets;  // one an interval; 0 of those that have no size
  std::int64_t height = 0;            // of the whole: the largest offset with its size
  std::int64_t lower_bound = 0;       // most alive at once: no packing is lower

  bool optimal() const { return height == lower_bound; }
};

// The most that is alive at once.
std::int64_t most_alive(std::span<const ArenaInterval> intervals);

// The lowest packing that is found. Sizes are at least 0, and their sum is below 2^62; where all
// are multiples of a number, so are the offsets. `effort` is a multiple of the usual one: how much
// work the search may do, counted in steps, so that the same effort gives the same packing on every
// machine; 0 leaves it at the greedy packings. Greedy packings are near linear in time; they are
// all there is where more than eight million pairs are alive at once.
ArenaPacking pack_arena(std::span<const ArenaInterval> intervals, double effort = 1);

}  // namespace recut
