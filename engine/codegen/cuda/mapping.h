// Which threads do what of a launch.
//
// The outermost loops that nest perfectly and whose iterations are independent are its items,
// counted by one number. An item belongs to one thread where there is nothing in it to share out,
// else to a group of them, which all run the straight code alike, and share out the loops inside.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "engine/codegen/cuda/nest.h"
#include "engine/codegen/cuda/scatters.h"
#include "engine/codegen/cuda/tiles.h"
#include "engine/codegen/cuda/transpose.h"
#include "engine/codegen/loop/ranges.h"
#include "engine/codegen/loop/stages.h"

namespace recut::cuda {

// A loop of which a group's threads take an iteration each at a time, or a pack of neighbours.
struct Shared {
  Nest nest;
  // Where partials grow: iteration k is that of partial k mod lanes. 0: anyone's.
  std::int64_t lanes = 0;
  int pack = 1;
};

struct Mapping {
  std::optional<Nest> items;  // none: a single one, `straight`
  loop::Block straight;
  std::int64_t count = 1;  // of items
  int group = 1;      // threads of an item: a part of a warp, a whole block, or a cluster of blocks
  int cluster = 1;    // blocks of an item, which a card of sm_90 has at once
  bool team = false;  // instead of that they meet through memory: many blocks, or sm_80
  int abreast = 1;    // neighbouring items whose threads alternate: sums that lie side by side
  int threads = 1;    // of a block
  int partials = 1;   // neighbouring ones of an accumulator that a thread of a group has
  int pack = 1;       // neighbouring items of a thread, by accesses of several elements
  std::map<const loop::Loop*, Shared> shared;
  Tile tile;                            // where sums in order are made by many threads
  Scatter scatter;                      // where rows that data names are shared out
  Transpose transpose;                  // where what is loaded lies along another loop
  std::vector<loop::BufferId> scratch;  // that the launch uses
  std::int64_t scratch_bytes = 0;
  std::int64_t partials_bytes = 0;  // shared memory for partials or summands of a block

  const loop::Block& body() const { return items ? *items->body : straight; }
  // Items that a thread's or a group's turn takes.
  std::int64_t turns() const { return (count + pack - 1) / pack; }
  // Of a block, or of a cluster of them.
  std::int64_t turns_of_block() const {
    return tile.columns > 0 ? tile.columns : abreast * cluster > 1 ? abreast : threads / group;
  }
  // Whether an item's threads are a warp's, or of a part of it.
  bool in_warp() const { return group <= 32 && abreast == 1; }
  // Blocks, or clusters of them, that have a turn each.
  std::int64_t blocks() const {
    if (transpose) return transpose.squares;
    const std::int64_t of_items = (turns() + turns_of_block() - 1) / turns_of_block();
    return scatter ? of_items * scatter.parts() : of_items;
  }
};

// Blocks of teams, of a whole launch, and what each has: any processor has room for one.
inline constexpr int kMostTeamBlocks = 128, kThreadsOfTeamBlock = 1024;

// `ranges`: of the kernel's loops and checked values.
Mapping map_stage(const loop::Kernel& kernel, const loop::Ranges& ranges,
                  const loop::StageCode& stage);

// What is known of indices before any of it runs.
loop::Ranges all_ranges(const loop::Kernel& kernel);

// Where in shared memory each scratch buffer begins, and at the end how many bytes they take.
std::vector<std::int64_t> scratch_places(const loop::Kernel& kernel,
                                         const std::vector<loop::BufferId>& scratch);

}  // namespace recut::cuda
