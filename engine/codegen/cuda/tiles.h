// Sums in order, of so few items that a thread each would leave a card empty.
//
// The order of a sum is fixed, so it is the summands that are shared out. A block takes some
// neighbouring items, its columns, and iterations of their loops in chunks, its rows. Each thread
// computes the summands of a row of a column and leaves them in shared memory, and threads of a
// warp of its own add them, one a column, while the others are at the next chunk.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/codegen/cuda/nest.h"

namespace recut::cuda {

// A loop that updates accumulators of its item, and what is nested in it.
struct OrderedSum {
  Nest nest;
  int turns = 1;                             // rows that a thread makes of a chunk
  std::vector<const loop::Update*> updates;  // in the order of an iteration
};

struct Tile {
  int columns = 0;  // items of a block; 0: there are no tiles
  int makers = 0;   // threads that make summands, a multiple of columns; a warp more adds
  std::map<const loop::Loop*, OrderedSum> sums;
  std::int64_t totals_at = 0;  // where in shared memory the sums are told to all
  std::int64_t bytes = 0;      // of shared memory

  int rows() const { return makers / columns; }
};

// What an update leaves of an iteration takes this much of shared memory: of both its factors.
std::int64_t summand_bytes(const loop::Kernel& kernel, const loop::Update& update);

// None where items are many, or sums are short or made in another way.
Tile tile_of(const loop::Kernel& kernel, const Nest& items);

}  // namespace recut::cuda
