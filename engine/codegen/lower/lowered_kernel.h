// What comes of lowering calls (lower.h), and how they are to be lowered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/codegen/loop/kernel.h"
#include "engine/ir/graph.h"
#include "engine/ir/storage_model.h"

namespace recut::loop {

// What a buffer is: all elements of one output of a node, laid out as its type says where that is
// dense (a permutation of contiguous strides), else contiguously.
struct BufferSource {
  NodeId node;             // an input or a call
  std::size_t output = 0;  // of the call
  StorageId storage;       // invalid for inputs, and for what has no bytes
};

struct LoweredKernel {
  Kernel kernel;
  std::vector<BufferSource> sources;  // one a buffer
};

// The type in which f32, f16 and bf16 are computed. `f64` gives eval's bits wherever nothing is
// summed; f64 itself is computed in f64 anyway.
enum class Precision : std::uint8_t { f32, f64 };

// The accumulators that a matrix product keeps in registers: so many rows, or fewer at their end,
// of so many bytes, a power of two, which leave vector registers for its factors. No bit of a
// result depends on them. The default is for sixteen registers of 32 bytes.
struct RegisterTile {
  std::int64_t rows = 4, bytes = 64;

  bool operator==(const RegisterTile&) const = default;
};

struct LowerOptions {
  Precision precision = Precision::f32;
  std::optional<RegisterTile> registers = RegisterTile{};  // none: no tiles, plain loops alone
  // The most lanes of a sum over a row, for threads of a group: all that a row folds is one loop
  // then. 0: as processors sum, in up to 256 lanes of the last loop. Sums have other bits.
  std::int64_t group_lanes = 0;
  // The threads that all sums of a call may have together, where these lie side by side and threads
  // of a group share them out: as many as a card has at once. 0: those of a group each.
  std::int64_t column_threads = 0;

  bool operator==(const LowerOptions&) const = default;
};

}  // namespace recut::loop
