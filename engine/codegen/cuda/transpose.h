// Items whose neighbours store neighbours, but load what lies along another of their loops.
//
// A warp would touch a line of memory for each thread. So a block takes a square of both loops: its
// threads load along the one into shared memory, wait, and go on along the other.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/codegen/cuda/nest.h"

namespace recut::cuda {

struct Transpose {
  static constexpr int kSide = 32;         // items of a square, along either loop
  static constexpr int kLine = kSide + 1;  // in shared memory: columns are in different banks
  static constexpr int kThreads = 256;     // of a block: a warp has a line of the square at a time

  std::size_t across = 0;                // the loop of the nest along which neighbours are loaded
  std::vector<const loop::Load*> loads;  // that go through shared memory; none: nothing does
  std::vector<std::int64_t> places;      // of their squares in shared memory, in bytes
  std::int64_t bytes = 0;                // of all squares
  std::int64_t squares = 0;              // blocks that have one each

  explicit operator bool() const { return !loads.empty(); }
};

// None where bodies are more than loads, scalars and stores, where no load is turned, or where
// either loop is short.
Transpose transpose_of(const loop::Kernel& kernel, const Nest& items);

}  // namespace recut::cuda
