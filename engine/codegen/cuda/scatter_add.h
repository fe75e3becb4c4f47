// Deterministic scatter-add to rows, in order (gradients of embeddings).
//
//   parallel %i in 0..768 {                  columns,
//     for %n in 0..4096 {                    and numbers that name rows:
//       %row = check %named in 0..50257
//       store add %y[%i + 768*%row], %x      additions to one row run in the order of numbers
//     }
//   }
//
// One thread for each column would have to walk through all numbers. Instead, rows are distributed
// over blocks: each block collects the numbers that name one of its rows, in order, and adds their
// values. Each row has one block and each of its columns one thread: no atomics, and bit-exact.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/codegen/cuda/nest.h"

namespace recut::cuda {

struct ScatterAdd {
  const loop::Loop* numbers = nullptr;  // null: there is none
  const loop::Store* store = nullptr;
  const loop::If* branch = nullptr;  // the condition under which a number names a row; null: always
  loop::ValueId row;
  std::int64_t rows = 0;                                // the total
  std::vector<const loop::Statement*> row_definitions;  // definitions of the row and the condition
  std::vector<const loop::Statement*> value_definitions;  // definitions of the value

  int threads = 0;  // of a block: columns that it handles at a time
  int rows_per_block = 1;
  int turns = 1;     // numbers that a thread examines before their values are added
  int prefetch = 1;  // values that are loaded before the first is added
  // Shared memory: the collected numbers, their rows, and the count of each warp.
  std::int64_t bytes = 0;

  explicit operator bool() const { return numbers != nullptr; }
  int chunk() const { return threads * turns; }  // numbers that are examined together
  std::int64_t parts() const { return (rows + rows_per_block - 1) / rows_per_block; }
};

// None if the items do anything else, or are enough to fill a GPU.
ScatterAdd scatter_add_of(const loop::Kernel& kernel, const Nest& items);

}  // namespace recut::cuda
