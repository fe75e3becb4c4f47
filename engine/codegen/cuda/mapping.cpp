// Chooses how a stage runs on the GPU, from the most special mapping to the plain one:
//   1. ordered sums (ordered_sums.h), scatter-add (scatter_add.h) or tiled transpose
//      (tiled_transpose.h), where the body has that form and the items are few enough to need it;
//   2. groups of threads, where the body has lanes or scratch: a thread for each partial. Columns
//      are interleaved where memory is contiguous across items instead of along the sum;
//   3. one thread an item, or a vectorized access of several neighbouring items.
// Only group sizes and block sizes are tuned, for occupancy: at least 256 blocks or 2^17 threads
// where there is that much work. The order of every sum is fixed by the loop form, so no choice
// changes a bit of the result.
#include "engine/codegen/cuda/mapping.h"

#include <algorithm>

#include "engine/codegen/cuda/independence.h"
#include "engine/codegen/cuda/vectorized_access.h"
#include "engine/codegen/lower/lowering.h"

namespace recut::cuda {
namespace {

using loop::Block;
using loop::Loop;
using loop::Statement;

constexpr int kMappingWarp = 32;
constexpr int kMappingBlock = 256;
constexpr int kMaxThreads = 1024;                  // of a block
constexpr int kMaxCluster = 8;                     // blocks, on every GPU that has clusters
constexpr std::int64_t kMappingMaxValueBytes = 8;  // bytes of a value
// The maximum shared memory of a block on sm_80.
constexpr std::int64_t kMappingMaxSharedBytes = std::int64_t{163} << 10;
// Threads and blocks that keep a large GPU busy.
constexpr std::int64_t kManyThreads = std::int64_t{1} << 17;
constexpr std::int64_t kMappingManyBlocks = 256;
constexpr int kMinThreads = 8;     // of a group
constexpr int kMappingSector = 8;  // elements of 4 bytes in a memory sector

void note_buffer(std::vector<bool>& used, const Statement& statement) {
  if (const auto* store = std::get_if<loop::Store>(&statement.value))
    used[store->buffer.index] = true;
  if (const auto* define = std::get_if<loop::Define>(&statement.value))
    if (const auto* load = std::get_if<loop::Load>(&define->expression))
      used[load->buffer.index] = true;
}

std::vector<loop::BufferId> scratch_of(const loop::Kernel& kernel, const loop::StageCode& stage) {
  std::vector<bool> used(kernel.buffers.size(), false);
  const auto note = [&](const Statement& statement) { note_buffer(used, statement); };
  for_each_statement(stage.loop != nullptr ? stage.loop->body : stage.shared, note);
  std::vector<loop::BufferId> scratch;
  for (std::size_t b = loop::parameter_count(kernel); b < used.size(); ++b)
    if (used[b]) scratch.emplace_back(b);
  return scratch;
}

bool has_lanes(const Block& block) {
  bool found = false;
  for_each_statement(block, [&](const Statement& statement) {
    const auto* loop = std::get_if<Loop>(&statement.value);
    found |= loop != nullptr && loop->lanes > 1;
  });
  return found;
}

// The maximum number of partials of the accumulators declared inside.
std::int64_t max_partials(const loop::Kernel& kernel, const Block& block) {
  std::int64_t most = 1;
  for_each_statement(block, [&](const Statement& statement) {
    if (const auto* declare = std::get_if<loop::Declare>(&statement.value))
      most = std::max(most, kernel[declare->accumulator].lanes);
  });
  return most;
}

// The largest prefix of the nest's loops whose iterations are independent.
std::optional<Nest> independent_part(const loop::Kernel& kernel, const loop::Ranges& ranges,
                                     const Nest& nest) {
  for (std::size_t loops = nest.loops.size(); loops > 0; --loops) {
    Nest first = first_of(nest, loops);
    if (is_independent(kernel, ranges, first)) return first;
  }
  return std::nullopt;
}

// Finds the worksharing loops of a body.
class WorksharingPlanner {
 public:
  WorksharingPlanner(const loop::Kernel& kernel, const loop::Ranges& ranges)
      : kernel_(kernel), ranges_(ranges) {}

  // Returns false if a loop with partials isn't independent otherwise; then one thread runs the
  // item.
  bool plan(const Block& block) {
    for (const Statement& statement : block) {
      if (const auto* branch = std::get_if<loop::If>(&statement.value))
        if (!plan(branch->body)) return false;
      if (const auto* loop = std::get_if<Loop>(&statement.value))
        if (!plan(*loop)) return false;
    }
    return true;
  }

  std::map<const Loop*, WorksharingLoop>& found() { return found_; }

 private:
  bool plan(const Loop& loop) {
    const bool plain = max_partials(kernel_, loop.body) == 1;
    if (plain) {
      if (auto nest = independent_part(kernel_, ranges_, nest_of(loop))) {
        const int vector_width = max_vector_width(kernel_, *nest);
        const bool whole = kernel_[nest->loops.back()->variable].extent % vector_width == 0;
        found_[&loop] = {std::move(*nest), 0, whole ? vector_width : 1};
        return true;
      }
    }
    if (loop.lanes == 1 || !updates(loop)) return plan(loop.body);
    Nest alone = first_of(nest_of(loop), 1);
    if (!plain || !is_independent(kernel_, ranges_, alone, LoopCarried::partials)) return false;
    found_[&loop] = {std::move(alone), loop.lanes, 1};
    return true;
  }

  // True if it updates partials that are declared outside.
  bool updates(const Loop& loop) const {
    bool found = false;
    for_each_statement(loop.body, [&](const Statement& statement) {
      const auto* update = std::get_if<loop::Update>(&statement.value);
      found |= update != nullptr && kernel_[update->accumulator].lanes > 1;
    });
    return found;
  }

  const loop::Kernel& kernel_;
  const loop::Ranges& ranges_;
  std::map<const Loop*, WorksharingLoop> found_;
};

// True if all accumulators with partials have the same number of them.
bool all_have(const loop::Kernel& kernel, const Block& block, std::int64_t partials) {
  bool all = true;
  for_each_statement(block, [&](const Statement& statement) {
    const auto* declare = std::get_if<loop::Declare>(&statement.value);
    if (declare == nullptr) return;
    const std::int64_t lanes = kernel[declare->accumulator].lanes;
    all &= lanes == 1 || lanes == partials;
  });
  return all;
}

// The number of neighbouring partials of a thread, which it loads as a vector: as many as all loops
// that update partials permit.
int partials_of_thread(const loop::Kernel& kernel, const Mapping& mapping) {
  const std::int64_t partials = max_partials(kernel, mapping.body());
  if (!mapping.scratch.empty() || !all_have(kernel, mapping.body(), partials)) return 1;
  int vector_width = kMaxVectorWidth;
  for (; vector_width > 1; vector_width /= 2) {
    const bool fits =
        std::all_of(mapping.worksharing.begin(), mapping.worksharing.end(), [&](const auto& one) {
          return one.second.lanes == 0 || fits_vector_width(kernel, one.second.nest, vector_width);
        });
    if (fits && partials / vector_width >= kMinThreads) break;
  }
  return vector_width;
}

// Threads of a group: one for each partial or vector of partials, and more for long loops if there
// are few groups.
int group_size(const loop::Kernel& kernel, const Mapping& mapping) {
  std::int64_t longest = 1;
  for (const auto& [loop, shared] : mapping.worksharing)
    if (shared.lanes == 0)
      longest = std::max(longest, shared.nest.iterations(kernel) / shared.vector_width);
  const bool block = !mapping.scratch.empty() || !mapping.items;
  std::int64_t group = std::max<std::int64_t>(
      block ? kMappingWarp : kMinThreads, max_partials(kernel, mapping.body()) / mapping.partials);
  const std::int64_t least = mapping.scratch.empty() ? 8 : 2;  // iterations of a thread
  while (group < kMappingBlock && group * least < longest && group * mapping.count < kManyThreads)
    group *= 2;
  return static_cast<int>(group);
}

// Smaller blocks if there are few threads, so that more SMs have one.
int block_size(std::int64_t threads) {
  int size = kMappingBlock;
  while (size > kMappingWarp && threads / size < kMappingManyBlocks) size /= 2;
  return size;
}

// The same for cooperative groups of blocks; 1: they don't fit on a GPU at once.
int interleaved_in_cooperative(std::int64_t lanes, std::int64_t count) {
  int interleaved = 2;
  while (interleaved < kMappingWarp && interleaved < count) interleaved *= 2;
  const std::int64_t groups = (count + interleaved - 1) / interleaved;
  return groups * interleaved * lanes <= kMaxCooperativeBlocks * kCooperativeBlockThreads
             ? interleaved
             : 1;
}

// The number of interleaved items, if memory is contiguous across items; 1: along the sum.
int interleaved_items(const loop::Kernel& kernel, const Mapping& mapping) {
  if (!mapping.items || !mapping.scratch.empty()) return 1;
  const std::int64_t lanes = max_partials(kernel, mapping.body());
  if (lanes == 1 || !all_have(kernel, mapping.body(), lanes)) return 1;
  int across = 0, along = 0;
  for (const auto& [loop, shared] : mapping.worksharing) {
    if (shared.lanes == 0) continue;
    across += count_contiguous_loads(*shared.nest.body, mapping.items->loops.back()->variable);
    along += count_contiguous_loads(*shared.nest.body, shared.nest.loops.back()->variable);
  }
  if (along >= across) return 1;
  if (lanes > loop::kMaxLanesAbreast) return interleaved_in_cooperative(lanes, mapping.count);
  int interleaved = kMappingWarp;
  while (interleaved > kMappingSector &&
         (mapping.count / interleaved * kMaxCluster < kMappingManyBlocks ||
          interleaved * lanes > kMaxCluster * kMaxThreads))
    interleaved /= 2;
  return interleaved;
}

void choose_interleaved_group(const loop::Kernel& kernel, Mapping& mapping) {
  for (auto& [loop, shared] : mapping.worksharing) shared.vector_width = 1;
  mapping.group = static_cast<int>(max_partials(kernel, mapping.body()));
  const int threads = mapping.group * mapping.interleaved;
  mapping.cooperative =
      mapping.group > loop::kMaxLanesAbreast && threads > kCooperativeBlockThreads;
  if (mapping.cooperative)
    mapping.cluster = threads / kCooperativeBlockThreads;
  else if (threads > kMaxThreads)
    mapping.cluster = std::min(kMaxCluster, threads / kMappingBlock);
  mapping.threads = threads / mapping.cluster;
  mapping.partials_bytes = mapping.threads * kMappingMaxValueBytes;
}

void choose_group(const loop::Kernel& kernel, Mapping& mapping) {
  mapping.partials = partials_of_thread(kernel, mapping);
  for (auto& [loop, shared] : mapping.worksharing)
    if (shared.lanes > 0) shared.vector_width = mapping.partials;
  mapping.group = group_size(kernel, mapping);
  if (mapping.group > kMaxThreads)
    mapping.cluster = std::min(kMaxCluster, mapping.group / kMappingBlock);
}

void choose_threads(const loop::Kernel& kernel, Mapping& mapping) {
  if (mapping.sum_tile.columns > 0) {
    mapping.threads = mapping.sum_tile.producers + kMappingWarp;
    mapping.partials_bytes = mapping.sum_tile.bytes;
    return;
  }
  if (mapping.scatter) {
    mapping.threads = mapping.scatter.threads;
    mapping.partials_bytes = mapping.scatter.bytes;
    return;
  }
  if (mapping.transpose) {
    mapping.threads = TiledTranspose::kThreads;
    mapping.partials_bytes = mapping.transpose.bytes;
    return;
  }
  const bool alone = mapping.worksharing.empty();
  mapping.interleaved = alone ? 1 : interleaved_items(kernel, mapping);
  if (mapping.interleaved > 1) return choose_interleaved_group(kernel, mapping);
  if (!alone) choose_group(kernel, mapping);
  if (alone && mapping.items && mapping.scratch.empty())
    mapping.vector_width = max_vector_width(kernel, *mapping.items);
  const bool block = mapping.group > kMappingWarp || !mapping.scratch.empty() || !mapping.items;
  mapping.threads = block ? mapping.group / mapping.cluster
                          : std::max(mapping.group, block_size(mapping.turns() * mapping.group));
  if (mapping.group > kMappingWarp) {
    const std::int64_t partials = max_partials(kernel, mapping.body());
    mapping.partials_bytes = partials > 1 ? partials / mapping.cluster * kMappingMaxValueBytes : 0;
  }
}

}  // namespace

loop::Ranges all_ranges(const loop::Kernel& kernel) {
  loop::Ranges ranges(kernel);
  for_each_statement(kernel.body, [&](const Statement& statement) {
    const auto* define = std::get_if<loop::Define>(&statement.value);
    if (define == nullptr) return;
    if (const auto* checked = std::get_if<loop::Checked>(&define->expression))
      ranges.set(define->value, {0, checked->below - 1});
    if (const auto* number = std::get_if<loop::IndexNumber>(&define->expression))
      if (const auto range = ranges.of(number->index)) ranges.set(define->value, *range);
  });
  return ranges;
}

std::vector<std::int64_t> scratch_offsets(const loop::Kernel& kernel,
                                          const std::vector<loop::BufferId>& scratch) {
  std::vector<std::int64_t> offsets{0};
  for (const loop::BufferId id : scratch)
    offsets.push_back(offsets.back() +
                      (kernel[id].elements * item_bytes(kernel[id].dtype) + 15) / 16 * 16);
  return offsets;
}

Mapping map_stage(const loop::Kernel& kernel, const loop::Ranges& ranges,
                  const loop::StageCode& stage) {
  Mapping mapping;
  mapping.scratch = scratch_of(kernel, stage);
  mapping.scratch_bytes = scratch_offsets(kernel, mapping.scratch).back();
  if (stage.loop != nullptr) {
    // Scratch belongs to an outermost iteration.
    const Nest nest = nest_of(*stage.loop);
    mapping.items =
        independent_part(kernel, ranges, mapping.scratch.empty() ? nest : first_of(nest, 1));
  }
  if (mapping.items) {
    mapping.count = mapping.items->iterations(kernel);
  } else {
    mapping.serial = stage.shared;
    if (stage.loop != nullptr) mapping.serial.push_back({*stage.loop, stage.location});
  }
  const Block& body = mapping.body();
  const bool fits = mapping.scratch_bytes + max_partials(kernel, body) * kMappingMaxValueBytes <=
                    kMappingMaxSharedBytes;
  if (fits && (has_lanes(body) || !mapping.scratch.empty())) {
    WorksharingPlanner planner(kernel, ranges);
    if (planner.plan(body)) mapping.worksharing = std::move(planner.found());
  }
  const bool plain = mapping.items && mapping.scratch.empty() && !has_lanes(body);
  if (plain) mapping.sum_tile = sum_tile_of(kernel, *mapping.items);
  if (plain) mapping.scatter = scatter_add_of(kernel, *mapping.items);
  if (plain && mapping.sum_tile.columns == 0 && !mapping.scatter)
    mapping.transpose = tiled_transpose_of(kernel, *mapping.items);
  choose_threads(kernel, mapping);
  return mapping;
}

}  // namespace recut::cuda
