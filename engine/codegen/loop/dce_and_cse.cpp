// Dead code elimination and common subexpression elimination in two walks.
//
//   %a = load %x[%i]; %b = load %x[%i]; %c = add %a, %b; %d = exp %a; store %y[%i], %c
//   %a = load %x[%i]; %c = add %a, %a; store %y[%i], %c
//
// The first walk goes backwards and marks used values; a use always follows its definition, so one
// walk is enough. The second copies the kernel and looks each pure definition up in a scoped table
// of the enclosing blocks (value numbering over the tree of blocks, which is the dominator tree
// here). Loads count as pure only from buffers that the kernel never stores to. O(n log n) per
// level of nesting.
#include "engine/codegen/loop/dce_and_cse.h"

#include <map>
#include <utility>

#include "engine/codegen/loop/expression_key.h"

namespace recut::loop {
namespace {

// The used values, found in one backward walk: a use always follows its definition.
class UsedValues {
 public:
  explicit UsedValues(const Kernel& kernel) : used_(kernel.values.size(), false) {
    visit(kernel.body);
  }
  bool of(ValueId id) const { return used_[id.index]; }

 private:
  void use(ValueId id) { used_[id.index] = true; }
  void use(const Index& index) {
    for_each_used(index, [&](ValueId id) { use(id); });
  }

  void visit(const Block& block) {
    for (auto it = block.rbegin(); it != block.rend(); ++it)
      std::visit([&](const auto& s) { visit(s); }, it->value);
  }
  void visit(const Define& define) {
    if (std::holds_alternative<Checked>(define.expression)) use(define.value);
    if (of(define.value)) for_each_used(define.expression, [&](ValueId id) { use(id); });
  }
  void visit(const Store& store) {
    use(store.at);
    use(store.value);
  }
  void visit(const Declare& declare) { use(declare.initial); }
  void visit(const Update& update) {
    use(update.value);
    if (update.times.valid()) use(update.times);
  }
  void visit(const Loop& loop) { visit(loop.body); }
  void visit(const If& branch) {
    visit(branch.body);
    use(branch.condition);
  }

  std::vector<bool> used_;
};

// Copies the kernel with new numbers, and scratch after the other buffers.
class DceAndCse {
 public:
  explicit DceAndCse(const Kernel& kernel) : kernel_(kernel), uses_(kernel) {
    values_.resize(kernel.values.size());
    loops_.resize(kernel.loops.size());
    accumulators_.resize(kernel.accumulators.size());
  }

  Kernel run() {
    out_.name = kernel_.name;
    out_.locations = kernel_.locations;
    for (const bool scratch : {false, true}) add_buffers(scratch);
    out_.body = copied(kernel_.body);
    return std::move(out_);
  }

 private:
  void add_buffers(bool scratch) {
    buffers_.resize(kernel_.buffers.size());
    for (std::size_t b = 0; b < kernel_.buffers.size(); ++b) {
      if ((kernel_.buffers[b].access == Access::scratch) != scratch) continue;
      buffers_[b] = BufferId(out_.buffers.size());
      out_.buffers.push_back(kernel_.buffers[b]);
    }
  }

  Block copied(const Block& block) {
    Block out;
    known_.emplace_back();
    for (const Statement& statement : block)
      std::visit([&](const auto& s) { copy(s, statement.location, out); }, statement.value);
    known_.pop_back();
    return out;
  }

  // The value with this key in an open block; invalid if there is none.
  ValueId find(const ExpressionKey& key) const {
    for (const auto& block : known_)
      if (const auto found = block.find(key); found != block.end()) return found->second;
    return {};
  }

  void copy(const Define& define, std::uint32_t location, Block& out) {
    if (!uses_.of(define.value)) return;
    Expression expression = std::visit([&](const auto& e) { return mapped(e); }, define.expression);
    const ScalarValue& value = kernel_[define.value];
    ValueId& id = values_[define.value.index];
    const ExpressionKey key = key_of(value.type, expression);
    if (is_pure(out_, expression)) id = find(key);
    if (id.valid()) return;
    id = ValueId(out_.values.size());
    known_.back()[key] = id;
    out_.values.push_back(value);
    out.push_back({Define{id, std::move(expression)}, location});
  }
  void copy(const Store& store, std::uint32_t location, Block& out) {
    out.push_back(
        {Store{buffers_[store.buffer.index], mapped(store.at), mapped(store.value), store.combine},
         location});
  }
  void copy(const Declare& declare, std::uint32_t location, Block& out) {
    AccumulatorId& id = accumulators_[declare.accumulator.index];
    id = AccumulatorId(out_.accumulators.size());
    out_.accumulators.push_back(kernel_[declare.accumulator]);
    out.push_back({Declare{id, mapped(declare.initial)}, location});
  }
  void copy(const Update& update, std::uint32_t location, Block& out) {
    out.push_back({Update{accumulators_[update.accumulator.index], mapped(update.value),
                          mapped(update.times)},
                   location});
  }
  void copy(const Loop& loop, std::uint32_t location, Block& out) {
    LoopId& id = loops_[loop.variable.index];
    id = LoopId(out_.loops.size());
    out_.loops.push_back(kernel_[loop.variable]);
    Loop copied_loop{id, loop.parallel, loop.lanes, {}};
    copied_loop.body = copied(loop.body);
    out.push_back({std::move(copied_loop), location});
  }
  void copy(const If& branch, std::uint32_t location, Block& out) {
    out.push_back({If{mapped(branch.condition), copied(branch.body)}, location});
  }

  ValueId mapped(ValueId id) const { return id.valid() ? values_[id.index] : id; }
  Index mapped(const Index& index) const {
    Index out(index.constant);
    for (const Term& term : index.terms) out = out + term.factor * Index(mapped(term.atom));
    return out;
  }
  Atom mapped(Atom atom) const {
    if (atom.kind == AtomKind::loop) atom.id = loops_[atom.id].index;
    if (atom.kind == AtomKind::value) atom.id = values_[atom.id].index;
    if (atom.of != nullptr) atom.of = std::make_shared<const Index>(mapped(*atom.of));
    return atom;
  }

  Expression mapped(const Constant& constant) const { return constant; }
  Expression mapped(const IndexNumber& number) const { return IndexNumber{mapped(number.index)}; }
  Expression mapped(const Load& load) const {
    return Load{buffers_[load.buffer.index], mapped(load.at), mapped(load.where)};
  }
  Expression mapped(const Apply& apply) const {
    Apply out{apply.op, {}, apply.stored};
    for (const ValueId operand : apply.operands) out.operands.push_back(mapped(operand));
    return out;
  }
  Expression mapped(const Checked& checked) const {
    return Checked{mapped(checked.value), checked.below};
  }
  Expression mapped(const ReadAccumulator& read) const {
    return ReadAccumulator{accumulators_[read.accumulator.index]};
  }

  const Kernel& kernel_;
  const UsedValues uses_;
  Kernel out_;
  std::vector<std::map<ExpressionKey, ValueId>> known_;  // by open block, outermost first
  std::vector<BufferId> buffers_;
  std::vector<ValueId> values_;
  std::vector<LoopId> loops_;
  std::vector<AccumulatorId> accumulators_;
};

}  // namespace

Kernel dce_and_cse(const Kernel& kernel) { return DceAndCse(kernel).run(); }

}  // namespace recut::loop
