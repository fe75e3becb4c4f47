// From calls of a graph to a kernel in loop form: the calls that run as one kernel (a fusion group,
// or one call) become loop nests over buffers that are storages.
//
// Views are index arithmetic and never copied; what only the kernel's own calls read never reaches
// memory. Formulas have the meaning that engine/eval gives operators, but that f32, f16 and bf16
// are computed in f32, where eval computes in f64 and rounds once; sums are in lanes
// (loop/kernel.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/codegen/loop/kernel.h"
#include "engine/fusion/fusion_groups.h"
#include "engine/ir/graph.h"
#include "engine/ir/storage_model.h"
#include "engine/support/result.h"

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

// The calls of one kernel, in the graph's order: a group of `groups`, or a call that is alone.
// Views and getitems may stand between them and are left out. Fails where an operator has no
// lowering, or not for its arguments: every such call is named.
Result<LoweredKernel> lower(const Graph& graph, const StorageModel& storages,
                            const FusionGroups& groups, std::span<const NodeId> calls,
                            const LowerOptions& options = {});

// Those of a kernel's calls that are lowered: without views, and without parts of what others make.
// A kernel's notes are of these, in this order.
std::vector<NodeId> computed_calls(const Graph& graph, std::span<const NodeId> calls);

// Whether calls of this operator lower, at least for some arguments.
bool has_lowering(Op op);

}  // namespace recut::loop
