// Tiled transpose: items whose stores are contiguous along the last loop, but whose loads are
// contiguous along another loop.
//
// Plain code would touch one cache line for each thread of a warp. Instead, a block takes a 32 by
// 32 tile of both loops: its threads load along the one into shared memory, wait, and store along
// the other (Ruetsch and Micikevicius, Optimizing Matrix Transpose in CUDA, 2009).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/codegen/cuda/nest.h"

namespace recut::cuda {

struct TiledTranspose {
  static constexpr int kTileDim = 32;  // items of a tile along either loop
  static constexpr int kTilePitch =
      kTileDim + 1;                     // row pitch in shared memory; avoids bank conflicts
  static constexpr int kThreads = 256;  // of a block: a warp handles a row of the tile at a time

  std::size_t across = 0;                  // the loop of the nest along which loads are contiguous
  std::vector<const loop::Load*> loads;    // the loads through shared memory; empty: no transpose
  std::vector<std::int64_t> tile_offsets;  // offsets of their tiles in shared memory, in bytes
  std::int64_t bytes = 0;                  // of all tiles
  std::int64_t tiles = 0;                  // number of tiles, one for each block

  explicit operator bool() const { return !loads.empty(); }
};

// None if the body is more than loads, scalars and stores, if no load is transposed, or if either
// loop is short.
TiledTranspose tiled_transpose_of(const loop::Kernel& kernel, const Nest& items);

}  // namespace recut::cuda
