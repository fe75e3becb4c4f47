#include "engine/codegen/cuda/ordered_sums.h"

#include <algorithm>
#include <set>

#include "engine/codegen/cuda/vectorized_access.h"

namespace recut::cuda {
namespace {

// The number of items that have enough loads in flight with one thread each.
constexpr std::int64_t kSumsManyItems = std::int64_t{1} << 15;
constexpr std::int64_t kLongSum = 128;
constexpr int kSumsWarp = 32;
constexpr int kProducers = 512;
constexpr int kMinProducers = 64;
constexpr int kSumsSector = 8;         // elements of 4 bytes in a memory sector
constexpr std::int64_t kBlocks = 264;  // two for each SM of a large GPU
constexpr int kSumsTurns = 8;          // loads of as many rows are in flight
constexpr std::size_t kSumsShortBody = 12;
constexpr std::int64_t kMaxChunkBytes = std::int64_t{40} << 10;
constexpr std::int64_t kSumsMaxSharedBytes = std::int64_t{48} << 10;  // without an attribute
constexpr std::int64_t kSumsMaxValueBytes = 8;                        // bytes of a value

// True if an iteration only computes summands.
bool produces_summands(const loop::Kernel& kernel, const loop::Block& body) {
  bool updates = false;
  for (const loop::Statement& statement : body) {
    if (const auto* update = std::get_if<loop::Update>(&statement.value)) {
      if (kernel[update->accumulator].lanes > 1) return false;
      updates = true;
    } else if (!std::holds_alternative<loop::Define>(statement.value)) {
      return false;
    }
  }
  return updates;
}

// True if an item reads a buffer that it stores to, which would need more barriers.
bool reads_what_it_stores(const loop::Block& block) {
  std::set<std::uint32_t> loaded, stored;
  for_each_statement(block, [&](const loop::Statement& statement) {
    if (const auto* store = std::get_if<loop::Store>(&statement.value))
      stored.insert(store->buffer.index);
    const auto* define = std::get_if<loop::Define>(&statement.value);
    const auto* load = define == nullptr ? nullptr : std::get_if<loop::Load>(&define->expression);
    if (load != nullptr) loaded.insert(load->buffer.index);
  });
  return std::any_of(stored.begin(), stored.end(),
                     [&](std::uint32_t b) { return loaded.contains(b); });
}

std::map<const loop::Loop*, OrderedSum> sums_of(const loop::Kernel& kernel,
                                                const loop::Block& body) {
  std::map<const loop::Loop*, OrderedSum> sums;
  for (const loop::Statement& statement : body) {
    const auto* loop = std::get_if<loop::Loop>(&statement.value);
    if (loop == nullptr) continue;
    OrderedSum sum{nest_of(*loop), 1, {}};
    if (sum.nest.iterations(kernel) < kLongSum || !produces_summands(kernel, *sum.nest.body))
      continue;
    for (const loop::Statement& one : *sum.nest.body)
      if (const auto* update = std::get_if<loop::Update>(&one.value)) sum.updates.push_back(update);
    sums[loop] = std::move(sum);
  }
  return sums;
}

// One column if memory is contiguous along rows rather than columns.
int columns_of(const loop::Kernel& kernel, const Nest& items, const SumTile& tile) {
  int across = 0, along = 0;
  for (const auto& [loop, sum] : tile.sums) {
    across += count_contiguous_loads(*sum.nest.body, items.loops.back()->variable);
    along += count_contiguous_loads(*sum.nest.body, sum.nest.loops.back()->variable);
  }
  if (along > across) return 1;
  const std::int64_t count = items.iterations(kernel);
  int columns = kSumsWarp;
  while (columns > 1 && (columns > count || (columns > kSumsSector && count / columns < kBlocks)))
    columns /= 2;
  return columns;
}

std::int64_t chunk_bytes(const loop::Kernel& kernel, const SumTile& tile, const OrderedSum& sum) {
  std::int64_t bytes = 0;
  for (const loop::Update* update : sum.updates) bytes += summand_bytes(kernel, *update);
  return 2 * bytes * tile.producers * sum.turns;
}

// At most half of the rows, so that there are two chunks to overlap.
void choose_turns(const loop::Kernel& kernel, const SumTile& tile, OrderedSum& sum) {
  const std::int64_t rows = sum.nest.iterations(kernel);
  sum.turns = sum.nest.body->size() <= kSumsShortBody ? kSumsTurns : kSumsTurns / 2;
  while (sum.turns > 1 && (chunk_bytes(kernel, tile, sum) > kMaxChunkBytes ||
                           std::int64_t{2} * sum.turns * tile.rows() > rows))
    sum.turns /= 2;
}

}  // namespace

std::int64_t summand_bytes(const loop::Kernel& kernel, const loop::Update& update) {
  return item_bytes(kernel[update.accumulator].type) * (update.times.valid() ? 2 : 1);
}

SumTile sum_tile_of(const loop::Kernel& kernel, const Nest& items) {
  const std::int64_t count = items.iterations(kernel);
  if (count == 0 || count >= kSumsManyItems || reads_what_it_stores(items.loops.front()->body))
    return {};
  SumTile tile;
  tile.sums = sums_of(kernel, *items.body);
  if (tile.sums.empty()) return {};
  tile.columns = columns_of(kernel, items, tile);
  std::int64_t shortest = INT64_MAX;
  for (const auto& [loop, sum] : tile.sums)
    shortest = std::min(shortest, sum.nest.iterations(kernel));
  tile.producers = kProducers;
  while (tile.producers > kMinProducers && tile.rows() > shortest) tile.producers /= 2;
  std::size_t most_updates = 0;
  for (auto& [loop, sum] : tile.sums) {
    choose_turns(kernel, tile, sum);
    tile.totals_at = std::max(tile.totals_at, chunk_bytes(kernel, tile, sum));
    most_updates = std::max(most_updates, sum.updates.size());
  }
  tile.bytes =
      tile.totals_at + static_cast<std::int64_t>(most_updates) * tile.columns * kSumsMaxValueBytes;
  return tile.bytes <= kSumsMaxSharedBytes ? tile : SumTile{};
}

}  // namespace recut::cuda
