// Ordered sums of few items, where one thread each would leave most of the GPU idle.
//
// The order of additions is fixed, so only the computation of summands is parallel. A block takes
// some neighbouring items, its columns, and iterations of their loops in chunks, its rows. Producer
// threads compute the summands of a chunk into shared memory. A consumer warp adds those of the
// previous chunk meanwhile, one thread a column.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/codegen/cuda/nest.h"

namespace recut::cuda {

// A loop that updates accumulators of its item, with its nest.
struct OrderedSum {
  Nest nest;
  int turns = 1;                             // rows of a chunk that a thread computes
  std::vector<const loop::Update*> updates;  // in the order of an iteration
};

struct SumTile {
  int columns = 0;    // items of a block; 0: no ordered sums
  int producers = 0;  // producer threads, a multiple of columns; one more warp consumes
  std::map<const loop::Loop*, OrderedSum> sums;
  std::int64_t totals_at = 0;  // offset in shared memory of the broadcast totals
  std::int64_t bytes = 0;      // of shared memory

  int rows() const { return producers / columns; }
};

// Bytes of shared memory for one update of an iteration; with `times`, for both operands.
std::int64_t summand_bytes(const loop::Kernel& kernel, const loop::Update& update);

// None if there are many items, or if sums are short or have another form.
SumTile sum_tile_of(const loop::Kernel& kernel, const Nest& items);

}  // namespace recut::cuda
