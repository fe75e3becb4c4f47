// The result of lowering calls (lower.h), and its options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/codegen/loop/kernel.h"
#include "engine/ir/graph.h"
#include "engine/ir/storage_model.h"

namespace recut::loop {

// The tensor behind a buffer: one whole output of a node, laid out as its type says where that is
// dense (a permutation of contiguous strides), else contiguously.
struct BufferSource {
  NodeId node;             // an input or a call
  std::size_t output = 0;  // of the call
  StorageId storage;       // invalid for inputs and empty tensors
};

struct LoweredKernel {
  Kernel kernel;
  std::vector<BufferSource> sources;  // one a buffer
};

// The type that f32, f16 and bf16 are computed in. `f64` matches eval bit by bit wherever nothing
// is summed; f64 itself is always computed in f64.
enum class Precision : std::uint8_t { f32, f64 };

// The accumulators that a matmul keeps in registers: at most `rows` rows of `bytes` bytes (a power
// of two) each. They must leave vector registers for the operands. The result does not depend on
// them, bit for bit. The default suits sixteen registers of 32 bytes.
struct RegisterTile {
  std::int64_t rows = 4, bytes = 64;

  bool operator==(const RegisterTile&) const = default;
};

struct LowerOptions {
  Precision precision = Precision::f32;
  std::optional<RegisterTile> registers = RegisterTile{};  // none: no tiles, plain loops alone
  // The maximal lanes of a row's sum where a group of threads computes it in a single loop (CUDA).
  // 0: CPU order, up to 256 lanes of the innermost loop. The two orders round differently.
  std::int64_t group_lanes = 0;
  // The maximal threads of all split sums of a call together: the number that a GPU runs at once.
  // 0: one group a sum.
  std::int64_t column_threads = 0;

  bool operator==(const LowerOptions&) const = default;
};

}  // namespace recut::loop
