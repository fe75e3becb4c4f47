// The mapping of a stage to the grid, blocks and threads.
//
// The iterations of the outermost, perfectly nested, independent loops are work items, with one
// linear number. An item is run by one thread, or by a group of threads if it has lanes or scratch.
// All threads of a group run the straight code redundantly, and divide the loops inside
// (worksharing, as in OpenMP).
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "engine/codegen/cuda/nest.h"
#include "engine/codegen/cuda/ordered_sums.h"
#include "engine/codegen/cuda/scatter_add.h"
#include "engine/codegen/cuda/tiled_transpose.h"
#include "engine/codegen/loop/ranges.h"
#include "engine/codegen/loop/stages.h"

namespace recut::cuda {

// A loop whose iterations are divided among a group's threads, singly or as vectors of neighbours.
struct WorksharingLoop {
  Nest nest;
  // If partials are updated: iteration k belongs to partial k mod lanes. 0: to any thread.
  std::int64_t lanes = 0;
  int vector_width = 1;
};

struct Mapping {
  std::optional<Nest> items;  // none: a single item, `serial`
  loop::Block serial;
  std::int64_t count = 1;    // of items
  int group = 1;             // threads of an item: part of a warp, a block, or a cluster of blocks
  int cluster = 1;           // blocks of an item: a thread block cluster of sm_90
  bool cooperative = false;  // the cluster is a cooperative group: many blocks, or sm_80
  int interleaved = 1;       // neighbouring items whose threads are interleaved: column sums
  int threads = 1;           // of a block
  int partials = 1;          // neighbouring partials of an accumulator in one thread
  int vector_width = 1;      // neighbouring items of a thread, by vectorized accesses
  std::map<const loop::Loop*, WorksharingLoop> worksharing;
  SumTile sum_tile;                     // ordered sums by many threads
  ScatterAdd scatter;                   // scatter-add with rows distributed over blocks
  TiledTranspose transpose;             // tiled transpose
  std::vector<loop::BufferId> scratch;  // the buffers that the launch uses
  std::int64_t scratch_bytes = 0;
  std::int64_t partials_bytes = 0;  // shared memory for partials or summands of a block

  const loop::Block& body() const { return items ? *items->body : serial; }
  // The number of turns; a thread or group runs `vector_width` items in a turn.
  std::int64_t turns() const { return (count + vector_width - 1) / vector_width; }
  // Turns that run at once in a block or cluster.
  std::int64_t turns_of_block() const {
    return sum_tile.columns > 0        ? sum_tile.columns
           : interleaved * cluster > 1 ? interleaved
                                       : threads / group;
  }
  // True if an item's threads are a warp or part of one.
  bool in_warp() const { return group <= 32 && interleaved == 1; }
  // Blocks or clusters, for one turn each.
  std::int64_t blocks() const {
    if (transpose) return transpose.tiles;
    const std::int64_t of_items = (turns() + turns_of_block() - 1) / turns_of_block();
    return scatter ? of_items * scatter.parts() : of_items;
  }
};

// The maximum number of blocks of a cooperative launch, and threads of each: one fits on any SM.
inline constexpr int kMaxCooperativeBlocks = 128, kCooperativeBlockThreads = 1024;

// `ranges`: of the kernel's loops and checked values.
Mapping map_stage(const loop::Kernel& kernel, const loop::Ranges& ranges,
                  const loop::StageCode& stage);

// The intervals of all values that are indices.
loop::Ranges all_ranges(const loop::Kernel& kernel);

// Offsets of scratch buffers in shared memory, and last the total bytes.
std::vector<std::int64_t> scratch_offsets(const loop::Kernel& kernel,
                                          const std::vector<loop::BufferId>& scratch);

}  // namespace recut::cuda
