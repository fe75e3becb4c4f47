// The body of a scatter-add: a block collects the numbers whose row is one of its own (stream
// compaction by ballots, in order), then each thread adds the values of these numbers for its
// column. Sums are in registers; loads of 16 or 32 values are issued before the first is added.
#include <fmt/format.h>

#include "engine/codegen/cuda/kernel_code.h"
#include "engine/codegen/cuda/scalar_code.h"

namespace recut::cuda {

// A block handles a tile of rows and columns at a time. Threads beyond the last column repeat it
// and store nothing.
void KernelCode::items_of_scatter(const loop::StageCode& stage, std::int64_t blocks) {
  block(stage.shared);
  text_.set_location(stage.location);
  const ScatterAdd& scatter = mapping_.scatter;
  const Nest& items = *mapping_.items;
  const std::int64_t across = mapping_.blocks() / scatter.parts();
  name_lists();
  const std::string turn = names_.fresh("turn"), item = counter(items, 1);
  const std::string position = names_.fresh("position");
  text_.open(fmt::format("for (int {0} = blockIdx.x; {0} < {1}; {0} += {2})", turn,
                         mapping_.blocks(), blocks));
  const std::string part = across > 1 ? fmt::format("{} / {}", turn, across) : turn;
  const std::string rows =
      scatter.rows_per_block > 1 ? fmt::format(" * {}", scatter.rows_per_block) : "";
  const std::string columns =
      across > 1 ? fmt::format("{} % {} * {} + ", turn, across, scatter.threads) : "";
  text_.line(fmt::format("const int {} = {}{};", lists_.first_row, part, rows));
  text_.line(fmt::format("const int {} = {}threadIdx.x;", position, columns));
  text_.line(fmt::format("const int {0} = {1} < {2} ? {1} : {3};", item, position, mapping_.count,
                         mapping_.count - 1));
  if (items.loops.size() > 1)
    delinearize(items, item, false, std::vector<int>(items.loops.size(), 1));
  for (const loop::Statement* one : items.before) statement(*one);
  for (std::size_t i = 0; i + 1 < items.body->size(); ++i) statement((*items.body)[i]);
  add_named_rows();
  store_rows(fmt::format("{} < {}", position, mapping_.count));
  text_.close();
}

void KernelCode::name_lists() {
  const ScatterAdd& scatter = mapping_.scatter;
  lists_ = {names_.fresh("numbers"), names_.fresh("rows"),  names_.fresh("of_warps"),
            names_.fresh("sums"),    names_.fresh("named"), names_.fresh("first_row")};
  text_.line(fmt::format("int* const {} = reinterpret_cast<int*>(shared);", lists_.numbers));
  text_.line(fmt::format("int* const {} = {} + {};", lists_.rows, lists_.numbers, scatter.chunk()));
  text_.line(
      fmt::format("int* const {} = {} + {};", lists_.of_warps, lists_.rows, scatter.chunk()));
}

// Sums are in a thread's registers; they are loaded from memory once a row is named.
void KernelCode::add_named_rows() {
  const ScatterAdd& scatter = mapping_.scatter;
  const std::int64_t count = kernel_[scatter.numbers->variable].extent;
  const std::string first = names_.fresh("first"), all = names_.fresh("all");
  text_.line(fmt::format("{} {}[{}];", memory_type_name(kernel_[scatter.store->buffer].dtype),
                         lists_.sums, scatter.rows_per_block));
  text_.line(fmt::format("unsigned {} = 0;  // rows", lists_.named));
  text_.open(
      fmt::format("for (int {0} = 0; {0} < {1}; {0} += {2})", first, count, scatter.chunk()));
  collect_numbers(first, all);
  begin_sums(all);
  add_collected(all);
  text_.close();
}

void KernelCode::begin_sums(const std::string& all) {
  const ScatterAdd& scatter = mapping_.scatter;
  const std::string row = names_.fresh("row");
  text_.open(fmt::format("if ({} > 0 && {} == 0)", all, lists_.named));
  text_.line("#pragma unroll");
  text_.line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = {3};", row,
                         scatter.rows_per_block, lists_.sums, element_of_row(row)));
  text_.close();
}

// Rows beyond the last are clamped to it.
std::string KernelCode::element_of_row(const std::string& row) {
  const ScatterAdd& scatter = mapping_.scatter;
  const std::vector<std::string> values = values_;
  const bool over = scatter.rows % scatter.rows_per_block != 0;
  const std::string position = fmt::format("{} + {}", lists_.first_row, row);
  values_[scatter.row.index] = over ? fmt::format("(long long)({0} < {1} ? {0} : {2})", position,
                                                  scatter.rows, scatter.rows - 1)
                                    : fmt::format("(long long)({})", position);
  std::string text = element(scatter.store->buffer, scatter.store->at);
  values_ = values;
  return text;
}

void KernelCode::collect_numbers(const std::string& first, const std::string& all) {
  const ScatterAdd& scatter = mapping_.scatter;
  const std::vector<std::string> values = values_;
  text_.open(fmt::format("const int {} = {}<{}, {}>({}, {}, {}, {}, {}, [&](int {}) -> int", all,
                         context_.helpers.use("collect_rows"), scatter.threads / 32, scatter.turns,
                         first, kernel_[scatter.numbers->variable].extent, lists_.numbers,
                         lists_.rows, lists_.of_warps, variable(scatter.numbers->variable)));
  for (const loop::Statement* one : scatter.row_definitions) statement(*one);
  const std::string row = names_.fresh("row");
  text_.line(
      fmt::format("const long long {} = {} - {};", row, value(scatter.row), lists_.first_row));
  const std::string holds =
      scatter.branch != nullptr ? fmt::format("{} && ", value(scatter.branch->condition)) : "";
  text_.line(fmt::format("return {0}{1} >= 0 && {1} < {2} ? int({1}) : -1;", holds, row,
                         scatter.rows_per_block));
  text_.close(");");
  values_ = values;
}

// Several values are loaded before the first is added, unconditionally: a conditional load would
// wait for its condition, and be the only one in flight.
void KernelCode::add_collected(const std::string& all) {
  const ScatterAdd& scatter = mapping_.scatter;
  const std::vector<std::string> values = values_;
  const std::string first = names_.fresh("first"), made = names_.fresh("made");
  const std::string prefetch = names_.fresh("ahead"), at = names_.fresh("at");
  text_.open(fmt::format("for (int {0} = 0; {0} < {1}; {0} += {2})", first, all, scatter.prefetch));
  text_.line(fmt::format("{} {}[{}];", value_type_name(kernel_[scatter.store->value].type), made,
                         scatter.prefetch));
  const std::string head =
      fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", prefetch, scatter.prefetch);
  const std::string position = fmt::format("const int {0} = {1} + {2} < {3} ? {1} + {2} : {3} - 1;",
                                           at, first, prefetch, all);
  text_.line("#pragma unroll");
  text_.open(head);
  text_.line(position);
  text_.line(fmt::format("const int {} = {}[{}];", variable(scatter.numbers->variable),
                         lists_.numbers, at));
  for (const loop::Statement* one : scatter.value_definitions) statement(*one);
  text_.line(fmt::format("{}[{}] = {};", made, prefetch, value(scatter.store->value)));
  text_.close();
  values_ = values;
  text_.line("#pragma unroll");
  text_.open(head);
  text_.line(position);
  const std::string row = names_.fresh("row");
  text_.line(fmt::format("const int {} = {} + {} == {} ? {}[{}] : -1;", row, first, prefetch, at,
                         lists_.rows, at));
  add_to_row(row, fmt::format("{}[{}]", made, prefetch));
  text_.close();
  text_.close();
  values_ = values;
}

// Each addition is rounded to the storage format, as in memory.
void KernelCode::add_to_row(const std::string& row, const std::string& value) {
  const ScatterAdd& scatter = mapping_.scatter;
  const loop::Store& store = *scatter.store;
  const DType dtype = kernel_[store.buffer].dtype, type = kernel_[store.value].type;
  const std::string each = names_.fresh("each");
  text_.line("#pragma unroll");
  text_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", each, scatter.rows_per_block));
  const std::string sum = fmt::format("{}[{}]", lists_.sums, each);
  std::string made = value;
  if (store.combine)
    made = combine_code(*store.combine, type, value_of_memory(dtype, sum, context_.helpers), value,
                        context_.helpers);
  text_.line(fmt::format("{0} = {1} == {2} ? {3} : {0};", sum, row, each,
                         memory_of_value(dtype, made, context_.helpers)));
  text_.close();
  text_.line(fmt::format("{} |= {} < 0 ? 0u : 1u << {};", lists_.named, row, row));
}

void KernelCode::store_rows(const std::string& inside) {
  const ScatterAdd& scatter = mapping_.scatter;
  const std::string row = names_.fresh("row");
  text_.line("#pragma unroll");
  text_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", row, scatter.rows_per_block));
  text_.line(fmt::format("if ({} && ({} >> {} & 1)) {} = {}[{}];", inside, lists_.named, row,
                         element_of_row(row), lists_.sums, row));
  text_.close();
}

}  // namespace recut::cuda
