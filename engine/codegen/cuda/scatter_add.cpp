// Recognizes the form in scatter_add.h and splits an iteration over numbers into the definitions
// that give the row (and the branch condition), which must not depend on the column, and
// definitions that give the value. The split is by backward slices over the definitions of one
// iteration.
#include "engine/codegen/cuda/scatter_add.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/codegen/loop/scalar.h"
#include "engine/cost/device.h"

namespace recut::cuda {
namespace {

using loop::Define;
using loop::Statement;
using loop::ValueId;

constexpr std::int64_t kScatterManyItems = std::int64_t{1} << 15;  // one thread each fills a GPU
constexpr std::int64_t kManyNumbers = 64;
constexpr std::int64_t kMaxCount = std::int64_t{1} << 30;  // numbers and rows are ints
constexpr int kScatterBlock = 256, kSmallBlock = 64;
constexpr int kScatterTurns = 8;
constexpr std::int64_t kBlocksThatFill = 2 * kSmLimitsOfH100.count;
constexpr std::int64_t kScatterManyBlocks = 4096;  // each block examines all numbers
constexpr int kMaxRows = 8;                        // of a block: sums in registers
constexpr int kMinPrefetch = 16, kMaxPrefetch = 32;

const Define* define_of(const Statement& statement) {
  return std::get_if<Define>(&statement.value);
}

// An iteration over the numbers: definitions, and finally a store, perhaps under a condition.
class Iteration {
 public:
  Iteration(const loop::Loop& numbers, const Nest& items, ScatterAdd& scatter)
      : numbers_(numbers.variable), scatter_(scatter) {
    for (const loop::Loop* loop : items.loops) items_.insert(loop->variable.index);
  }

  // A definition of an item, before its loop.
  void note_of_item(const Define& define) {
    if (!std::holds_alternative<loop::Constant>(define.expression))
      of_item_.insert(define.value.index);
  }

  // Returns false if it does anything else.
  bool read(const loop::Block& body) {
    for (const Statement& statement : body) {
      const bool last = &statement == &body.back();
      if (const Define* define = define_of(statement)) {
        if (last || std::holds_alternative<loop::ReadAccumulator>(define->expression)) return false;
        made_[define->value.index] = order_.size();
        order_.push_back(&statement);
      } else if (const auto* branch = std::get_if<loop::If>(&statement.value)) {
        if (!last || scatter_.branch != nullptr) return false;
        scatter_.branch = branch;
        return read(branch->body);
      } else {
        scatter_.store = std::get_if<loop::Store>(&statement.value);
        return last && scatter_.store != nullptr;
      }
    }
    return false;
  }

  // Slices the definitions of the row, which must not depend on the item, and of the value.
  bool divide() {
    if (!find_row()) return false;
    std::set<std::size_t> row_definitions = needed_by(scatter_.row);
    if (scatter_.branch != nullptr) row_definitions.merge(needed_by(scatter_.branch->condition));
    for (const std::size_t at : row_definitions) {
      if (reads_item(*order_[at])) return false;
      scatter_.row_definitions.push_back(order_[at]);
    }
    for (const std::size_t at : needed_by(scatter_.store->value))
      scatter_.value_definitions.push_back(order_[at]);
    return scatter_.branch == nullptr || made_.contains(scatter_.branch->condition.index);
  }

 private:
  // The row is the only part of the store's index that depends on the number.
  bool find_row() {
    for (const loop::Term& term : scatter_.store->at.terms) {
      const loop::Index atom(term.atom);
      bool decided = uses(atom, numbers_);
      for_each_used(atom, [&](ValueId id) { decided |= made_.contains(id.index); });
      if (!decided) continue;
      if (scatter_.row.valid() || term.atom.kind != loop::AtomKind::value) return false;
      scatter_.row = ValueId(term.atom.id);
    }
    if (!scatter_.row.valid()) return false;
    const Statement& made = *order_[made_.at(scatter_.row.index)];
    const auto* checked = std::get_if<loop::Checked>(&define_of(made)->expression);
    scatter_.rows = checked == nullptr ? 0 : checked->below;
    return checked != nullptr;
  }

  // Backward slice: the definitions of an iteration that a value depends on, in order.
  std::set<std::size_t> needed_by(ValueId value) const {
    std::set<std::size_t> needed;
    std::vector<ValueId> open = {value};
    while (!open.empty()) {
      const auto made = made_.find(open.back().index);
      open.pop_back();
      if (made == made_.end() || !needed.insert(made->second).second) continue;
      for_each_used(define_of(*order_[made->second])->expression,
                    [&](ValueId id) { open.push_back(id); });
    }
    return needed;
  }

  static bool uses(const loop::Index& index, loop::LoopId loop) {
    bool found = false;
    for_each_atom(index, [&](const loop::Atom& atom) {
      found |= atom.kind == loop::AtomKind::loop && atom.id == loop.index;
    });
    return found;
  }

  // True if a definition depends on the item. Values from outside of the loop may do so, unless
  // they are constants.
  bool reads_item(const Statement& statement) const {
    const loop::Expression& expression = define_of(statement)->expression;
    const auto* load = std::get_if<loop::Load>(&expression);
    const auto* number = std::get_if<loop::IndexNumber>(&expression);
    bool found = false;
    for (const loop::Index* index : {load ? &load->at : nullptr, number ? &number->index : nullptr})
      if (index != nullptr)
        for_each_atom(*index, [&](const loop::Atom& atom) {
          found |= atom.kind == loop::AtomKind::loop && items_.contains(atom.id);
        });
    for_each_used(expression, [&](ValueId id) {
      found |= !made_.contains(id.index) && of_item_.contains(id.index);
    });
    return found;
  }

 private:
  const loop::LoopId numbers_;
  ScatterAdd& scatter_;
  std::set<std::uint32_t> items_, of_item_;
  std::vector<const Statement*> order_;
  std::map<std::uint32_t, std::size_t> made_;  // by value: its position in that order
};

// True if a block loads from a buffer.
bool loads(const loop::Block& block, loop::BufferId buffer) {
  bool found = false;
  for_each_statement(block, [&](const Statement& statement) {
    const Define* define = define_of(statement);
    const auto* load = define == nullptr ? nullptr : std::get_if<loop::Load>(&define->expression);
    found |= load != nullptr && load->buffer == buffer;
  });
  return found;
}

// The loop at the end of an item, if only definitions come before it.
const loop::Loop* last_loop(const loop::Block& body) {
  if (body.empty()) return nullptr;
  const bool defined = std::all_of(body.begin(), body.end() - 1, [](const Statement& statement) {
    const Define* define = define_of(statement);
    return define != nullptr && !std::holds_alternative<loop::ReadAccumulator>(define->expression);
  });
  const auto* loop = std::get_if<loop::Loop>(&body.back().value);
  return defined && loop != nullptr && loop->lanes == 1 ? loop : nullptr;
}

// Enough blocks for all SMs. More loads are in flight where numbers name each row often.
void choose_threads(const loop::Kernel& kernel, std::int64_t items, ScatterAdd& scatter) {
  const std::int64_t numbers = kernel[scatter.numbers->variable].extent;
  const auto blocks = [&] {
    return scatter.parts() * ((items + scatter.threads - 1) / scatter.threads);
  };
  scatter.threads = kScatterBlock;
  while (scatter.threads > kSmallBlock &&
         (items <= scatter.threads / 2 || blocks() < kBlocksThatFill))
    scatter.threads /= 2;
  while (scatter.rows_per_block < kMaxRows && blocks() > kScatterManyBlocks)
    scatter.rows_per_block *= 2;
  scatter.turns = kScatterTurns;
  while (scatter.turns > 1 && scatter.chunk() >= 2 * numbers) scatter.turns /= 2;
  const std::int64_t named = scatter.chunk() * scatter.rows_per_block / scatter.rows;
  scatter.prefetch = named >= kMaxPrefetch ? kMaxPrefetch : kMinPrefetch;
  scatter.bytes = (8 * scatter.chunk() + 4 * (scatter.threads / 32) + 15) / 16 * 16;
}

}  // namespace

ScatterAdd scatter_add_of(const loop::Kernel& kernel, const Nest& items) {
  const std::int64_t count = items.iterations(kernel);
  const loop::Loop* numbers = last_loop(*items.body);
  if (numbers == nullptr || count == 0 || count >= kScatterManyItems) return {};
  const std::int64_t extent = kernel[numbers->variable].extent;
  if (extent < kManyNumbers || extent >= kMaxCount) return {};
  ScatterAdd scatter;
  scatter.numbers = numbers;
  Iteration iteration(*numbers, items, scatter);
  for (const Statement* before : items.before) iteration.note_of_item(*define_of(*before));
  for (std::size_t i = 0; i + 1 < items.body->size(); ++i)
    iteration.note_of_item(*define_of((*items.body)[i]));
  if (!iteration.read(numbers->body) || !iteration.divide() || scatter.rows >= kMaxCount) return {};
  const loop::Store& store = *scatter.store;
  const bool atomic = store.combine && loop::is_reassociable(kernel[store.value].type);
  if (atomic || loads(items.loops.front()->body, store.buffer)) return {};
  choose_threads(kernel, count, scatter);
  return scatter.parts() * count < kMaxCount ? scatter : ScatterAdd{};
}

}  // namespace recut::cuda
