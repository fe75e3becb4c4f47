// Adding to rows that data names, in order: the gradients of embeddings.
//
//   parallel %i in 0..768 {                  columns,
//     for %n in 0..4096 {                    and numbers that name rows:
//       %row = check %named in 0..50257
//       store add %y[%i + 768*%row], %x      what one row is given comes in the order of numbers
//     }
//   }
//
// A thread for a column would have to walk through all numbers alone. Here blocks share the rows:
// each lists the numbers that name one of its own, in order, and adds what they bring. Every row
// has one block, and every column of it one thread: no atomics, and the bits of the plain loop.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/codegen/cuda/nest.h"

namespace recut::cuda {

struct Scatter {
  const loop::Loop* numbers = nullptr;  // null: there is none
  const loop::Store* store = nullptr;
  const loop::If* branch = nullptr;  // a number names a row where its condition holds; null: always
  loop::ValueId row;
  std::int64_t rows = 0;                       // that there are
  std::vector<const loop::Statement*> naming;  // what the row and the condition are made by
  std::vector<const loop::Statement*> making;  // what the value is made by

  int threads = 0;  // of a block: columns that it has at a time
  int rows_of_block = 1;
  int turns = 1;  // numbers that a thread looks at before what they bring is added
  int ahead = 1;  // numbers whose values are loaded before the first of them is added
  // Shared memory: numbers that name rows of the block, those rows, and how many each warp has.
  std::int64_t bytes = 0;

  explicit operator bool() const { return numbers != nullptr; }
  int chunk() const { return threads * turns; }  // numbers that are looked at together
  std::int64_t parts() const { return (rows + rows_of_block - 1) / rows_of_block; }
};

// None where the items do anything else, or are so many that they fill a card.
Scatter scatter_of(const loop::Kernel& kernel, const Nest& items);

}  // namespace recut::cuda
