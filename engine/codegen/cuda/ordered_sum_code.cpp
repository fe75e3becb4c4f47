// The body of an ordered sum, a producer-consumer pipeline in one block: up to 512 threads compute
// the summands of the next chunk into shared memory (double buffered) while one more warp adds
// those of the last one, row by row, a thread for each column. One barrier a chunk. The totals are
// then broadcast, since the code behind the sum is run alike by all threads of a column.
#include <fmt/format.h>

#include <algorithm>

#include "engine/codegen/cuda/index_code.h"
#include "engine/codegen/cuda/kernel_code.h"
#include "engine/codegen/cuda/scalar_code.h"

namespace recut::cuda {
namespace {

constexpr int kSumCodeUnrolled = 32;               // summands that are read before they are added
constexpr std::int64_t kSumCodeMaxValueBytes = 8;  // bytes of a value

}  // namespace

// Threads beyond the last item repeat it and store nothing.
void KernelCode::items_of_sum_tile(const loop::StageCode& stage, std::int64_t blocks) {
  block(stage.shared);
  text_.set_location(stage.location);
  const SumTile& tile = mapping_.sum_tile;
  const std::int64_t count = mapping_.count, in_all = blocks * tile.columns;
  column_ = tile.columns > 1 ? names_.fresh("column") : "0";
  consumer_ = names_.fresh("adds");
  if (tile.columns > 1)
    text_.line(fmt::format("const int {} = threadIdx.x % {};", column_, tile.columns));
  text_.line(fmt::format("const bool {} = threadIdx.x >= {} && threadIdx.x < {};", consumer_,
                         tile.producers, tile.producers + tile.columns));
  const bool again = in_all < count, over = count % tile.columns != 0;
  std::string first =
      tile.columns > 1 ? fmt::format("blockIdx.x * {}", tile.columns) : std::string("blockIdx.x");
  if (again) {
    const std::string start = names_.fresh("first");
    text_.open(
        fmt::format("for (int {0} = {1}; {0} < {2}; {0} += {3})", start, first, count, in_all));
    first = start;
  }
  if (tile.columns > 1) first += " + " + column_;
  const std::string item = counter(*mapping_.items, 1);
  const std::string position = over ? names_.fresh("position") : item;
  text_.line(fmt::format("const int {} = {};", position, first));
  if (over)
    text_.line(
        fmt::format("const int {0} = {1} < {2} ? {1} : {3};", item, position, count, count - 1));
  storer_ = over ? fmt::format("{} && {} < {}", consumer_, position, count) : consumer_;
  nest_body(*mapping_.items, item, false, 1);
  if (again) text_.close();
}

void KernelCode::sum_in_order(const OrderedSum& sum) {
  const SumTile& tile = mapping_.sum_tile;
  const std::int64_t count = sum.nest.iterations(kernel_);
  const std::int64_t chunk = std::int64_t{sum.turns} * tile.rows();
  const std::string first = names_.fresh("first"), half_at = names_.fresh("half_at");
  const std::vector<std::string> summands = name_summands(sum);
  text_.open(fmt::format("for ({0} {1} = 0; {1} < {2}; {1} += {3})", int_type_name(count + chunk),
                         first, count, chunk));
  text_.line(fmt::format("const int {} = int({} / {} % 2) * {};", half_at, first, chunk,
                         sum.turns * tile.producers));
  produce_summands(sum, summands, first, half_at);
  text_.line("__syncthreads();");
  consume_summands(sum, summands, first, half_at);
  text_.close();
  broadcast_totals(sum);
}

// An array for each summand or operand of an iteration, with room for two chunks.
std::vector<std::string> KernelCode::name_summands(const OrderedSum& sum) {
  std::vector<std::string> names;
  std::int64_t at = 0;
  const std::int64_t room = std::int64_t{2} * sum.turns * mapping_.sum_tile.producers;
  for (const loop::Update* update : sum.updates)
    for (int part = 0; part < (update->times.valid() ? 2 : 1); ++part) {
      const DType type = kernel_[update->accumulator].type;
      names.push_back(names_.fresh("summands"));
      text_.line(fmt::format("{0}* const {1} = {2};", value_type_name(type), names.back(),
                             shared_pointer(value_type_name(type), at)));
      at += room * item_bytes(type);
    }
  return names;
}

// Rows beyond the last are clamped to it; their summands are ignored.
void KernelCode::produce_summands(const OrderedSum& sum, const std::vector<std::string>& summands,
                                  const std::string& first, const std::string& half_at) {
  const SumTile& tile = mapping_.sum_tile;
  const std::int64_t count = sum.nest.iterations(kernel_);
  const std::int64_t chunk = std::int64_t{sum.turns} * tile.rows();
  const std::string turn = names_.fresh("turn"), number = counter(sum.nest, 1);
  const std::string type = int_type_name(count + chunk);
  text_.open(fmt::format("if (threadIdx.x < {})", tile.producers));
  text_.line("#pragma unroll");
  text_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", turn, sum.turns));
  const std::string row = tile.columns > 1 ? fmt::format("int(threadIdx.x) / {}", tile.columns)
                                           : std::string("int(threadIdx.x)");
  const bool over = count % chunk != 0;
  const std::string position = over ? names_.fresh("position") : number;
  text_.line(fmt::format("const {} {} = {} + {} * {} + {};", type, position, first, turn,
                         tile.rows(), row));
  if (over)
    text_.line(fmt::format("const {0} {1} = {2} < {3} ? {2} : {4};", type, number, position, count,
                           count - 1));
  auto summand = summands.begin();
  for (const loop::Update* update : sum.updates)
    for (int part = 0; part < (update->times.valid() ? 2 : 1); ++part)
      summands_[update].push_back(
          fmt::format("{}[{} + {} * {} + threadIdx.x]", *summand++, half_at, turn, tile.producers));
  nest_body(sum.nest, number, type != "int", 1);
  summands_.clear();
  text_.close();
  text_.close();
}

void KernelCode::consume_summands(const OrderedSum& sum, const std::vector<std::string>& summands,
                                  const std::string& first, const std::string& half_at) {
  const SumTile& tile = mapping_.sum_tile;
  const std::int64_t count = sum.nest.iterations(kernel_);
  const std::int64_t chunk = std::int64_t{sum.turns} * tile.rows();
  const std::string row = names_.fresh("row");
  const std::string end =
      count % chunk == 0 ? fmt::format("{0} < {1}", row, chunk)
                         : fmt::format("{0} < {1} && {0} < {2} - {3}", row, chunk, count, first);
  text_.open(fmt::format("if ({})", consumer_));
  text_.line(fmt::format("#pragma unroll {}", kSumCodeUnrolled));
  text_.open(fmt::format("for (int {0} = 0; {1}; ++{0})", row, end));
  auto summand = summands.begin();
  const auto next = [&] {
    return tile.columns > 1 ? fmt::format("{}[{} + {} * {} + {}]", *summand++, half_at, row,
                                          tile.columns, column_)
                            : fmt::format("{}[{} + {}]", *summand++, half_at, row);
  };
  for (const loop::Update* update : sum.updates) {
    const std::string value = next();
    accumulate(*update, value, update->times.valid() ? next() : "");
  }
  text_.close();
  text_.close();
}

// The code after the sum is run by all threads of a column.
void KernelCode::broadcast_totals(const OrderedSum& sum) {
  const SumTile& tile = mapping_.sum_tile;
  std::vector<std::string> totals, reported;
  for (const loop::Update* update : sum.updates) {
    const std::string& name = names_.of(update->accumulator);
    if (std::find(reported.begin(), reported.end(), name) != reported.end()) continue;
    const std::string type = value_type_name(kernel_[update->accumulator].type);
    const std::int64_t at = tile.totals_at + static_cast<std::int64_t>(reported.size()) *
                                                 tile.columns * kSumCodeMaxValueBytes;
    totals.push_back(fmt::format("{}[{}]", shared_pointer(type, at), column_));
    reported.push_back(name);
  }
  for (std::size_t i = 0; i < reported.size(); ++i)
    text_.line(fmt::format("if ({}) {} = {};", consumer_, totals[i], reported[i]));
  text_.line("__syncthreads();");
  for (std::size_t i = 0; i < reported.size(); ++i)
    text_.line(fmt::format("{} = {};", reported[i], totals[i]));
}

}  // namespace recut::cuda
