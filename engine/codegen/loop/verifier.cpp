// The rules are in verifier.h. One walk in the order of the text keeps, for each value, loop
// variable and accumulator, whether it is undefined, in scope or out of scope, and the stack of
// enclosing loops and branches. Bounds and races come last (access_checks.h), as intervals mean
// nothing in a kernel whose names or types are wrong. A fault doesn't end the walk: all of them are
// reported.
#include "engine/codegen/loop/verifier.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "engine/codegen/loop/access_checks.h"
#include "engine/codegen/loop/names.h"

namespace recut::loop {
namespace {

// A part is in scope between its statement and the end of the enclosing block.
enum class Visibility : std::uint8_t { undefined, in_scope, out_of_scope };

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel)
      : kernel_(kernel),
        names_(kernel),
        values_(kernel.values.size(), Visibility::undefined),
        loops_(kernel.loops.size(), Visibility::undefined),
        accumulators_(kernel.accumulators.size(), Visibility::undefined),
        declared_under_(kernel.accumulators.size(), 0) {}

  Diagnostics run() {
    check_tables();
    check_block(kernel_.body);
    // Intervals are meaningful only in a well-formed kernel.
    if (faults_.empty()) faults_ = access_faults(kernel_);
    return std::move(faults_);
  }

 private:
  void fault(const std::string& subject, const std::string& message) {
    faults_.push_back(error(fmt::format("{}: {}", subject, message)));
  }

  void check_tables() {
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i)
      if (const Buffer& buffer = kernel_.buffers[i];
          buffer.dtype == DType::none || buffer.elements < 0)
        fault(names_.of(BufferId(i)), "a buffer has a dtype and 0 elements or more");
    check_scratch();
    for (std::size_t i = 0; i < kernel_.values.size(); ++i)
      if (const DType type = kernel_.values[i].type; !is_value_type(type))
        fault(names_.of(ValueId(i)), fmt::format("{} is no type of values", short_name(type)));
    for (std::size_t i = 0; i < kernel_.accumulators.size(); ++i)
      check_accumulator(AccumulatorId(i));
  }

  void check_scratch() {
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const Buffer& buffer = kernel_.buffers[i];
      const bool scratch = buffer.access == Access::scratch;
      if (scratch != (i >= parameter_count(kernel_)))
        fault(names_.of(BufferId(i)), "scratch stands behind the other buffers");
      if (scratch && buffer.dtype != DType::none) take_scratch(BufferId(i), kMaxScratchBytes);
    }
  }

  // The bytes left after the buffer has taken its own.
  std::int64_t take_scratch(BufferId id, std::int64_t left) {
    const Buffer& buffer = kernel_[id];
    if (buffer.elements <= left / item_bytes(buffer.dtype))
      return left - buffer.elements * item_bytes(buffer.dtype);
    fault(names_.of(id),
          fmt::format("an outermost loop has at most {} bytes of scratch", kMaxScratchBytes));
    return left;
  }

  void check_accumulator(AccumulatorId id) {
    const Accumulator& accumulator = kernel_[id];
    check_lanes(names_.of(id), accumulator.lanes);
    const DType type = accumulator.type;
    if (!is_value_type(type)) {
      fault(names_.of(id), fmt::format("{} is no type of values", short_name(type)));
      return;
    }
    const std::vector<DType> operands(2, type);
    if (auto why = type_fault(operator_of(accumulator.combine), operands, type, DType::none))
      fault(names_.of(id), *why);
  }

  void check_lanes(const std::string& subject, std::int64_t lanes) {
    if (lanes < 1 || lanes > kMaxLanes || (lanes & (lanes - 1)) != 0)
      fault(subject, fmt::format("{} lanes are no power of two up to {}", lanes, kMaxLanes));
  }

  // Names
  // -----------------------------------------------------------------------------------------

  // Visits a part's definition. Returns false if it already has one.
  template <class PartId>
  bool define(std::vector<Visibility>& parts, PartId id) {
    if (id.index >= parts.size() || parts[id.index] != Visibility::undefined) {
      fault(names_.of(id),
            id.index >= parts.size() ? "the kernel has no such part" : "is defined twice");
      return false;
    }
    parts[id.index] = Visibility::in_scope;
    return true;
  }

  template <class PartId>
  bool use(const std::string& subject, const std::vector<Visibility>& parts, PartId id) {
    const Visibility visibility = id.index < parts.size() ? parts[id.index] : Visibility::undefined;
    if (visibility == Visibility::in_scope) return true;
    fault(subject,
          fmt::format("{} {}", names_.of(id),
                      visibility == Visibility::undefined ? "is not defined before"
                                                          : "is used outside of its block"));
    return false;
  }

  bool use(const std::string& subject, const Index& index) {
    bool sound = true;
    for_each_atom(index, [&](const Atom& atom) {
      if (atom.kind == AtomKind::loop) sound &= use(subject, loops_, LoopId(atom.id));
      if (atom.kind == AtomKind::value)
        sound &= use(subject, values_, ValueId(atom.id)) &&
                 expect_type(subject, ValueId(atom.id), DType::i64);
    });
    return sound;
  }

  bool expect_type(const std::string& subject, ValueId id, DType type) {
    if (kernel_[id].type == type) return true;
    fault(subject, fmt::format("{} has to be {}, but is {}", names_.of(id), short_name(type),
                               short_name(kernel_[id].type)));
    return false;
  }

  void use_typed(const std::string& subject, ValueId id, DType type) {
    if (use(subject, values_, id)) expect_type(subject, id, type);
  }

  bool use_buffer(const std::string& subject, BufferId id) {
    if (id.index >= kernel_.buffers.size()) {
      fault(subject, "the kernel has no such buffer");
      return false;
    }
    if (kernel_[id].access == Access::scratch) use_scratch(subject, id);
    return true;
  }

  void use_scratch(const std::string& subject, BufferId id) {
    if (enclosing_.empty() || enclosing_.front() == nullptr || enclosing_.front()->lanes > 1)
      return fault(subject, fmt::format("{} is scratch, and used outside of a loop without lanes",
                                        names_.of(id)));
    if (kernel_[id].dtype != DType::none && scratch_of_nest_.insert(id.index).second)
      scratch_left_ = take_scratch(id, scratch_left_);
  }

  // Statements
  // ------------------------------------------------------------------------------------

  void check_block(const Block& block) {
    std::vector<std::pair<std::vector<Visibility>*, std::uint32_t>> outer;
    std::swap(outer, scope_);
    for (const Statement& statement : block)
      std::visit([&](const auto& s) { check(s); }, statement.value);
    for (const auto& [parts, index] : scope_) (*parts)[index] = Visibility::out_of_scope;
    scope_ = std::move(outer);
  }

  void check(const Define& define_statement) {
    const ValueId id = define_statement.value;
    const std::string& subject = names_.of(id);
    if (id.index >= values_.size()) return fault(subject, "the kernel has no such value");
    std::visit([&](const auto& e) { check_expression(subject, e, kernel_[id].type); },
               define_statement.expression);
    if (define(values_, id)) scope_.emplace_back(&values_, id.index);
  }

  void check(const Store& store) {
    if (!use_buffer("store", store.buffer)) return;
    const std::string subject = "store " + names_.of(store.buffer);
    const Buffer& buffer = kernel_[store.buffer];
    use(subject, store.at);
    use_typed(subject, store.value, value_type(buffer.dtype));
    if (buffer.access == Access::read) fault(subject, "the buffer is only read");
    if (!store.combine) return;
    if (buffer.access == Access::write)
      fault(subject, "a combining store reads a write-only buffer");
    const std::vector<DType> operands(2, value_type(buffer.dtype));
    if (auto why = type_fault(operator_of(*store.combine), operands, operands[0], DType::none))
      fault(subject, *why);
  }

  void check(const Declare& declare) {
    const AccumulatorId id = declare.accumulator;
    if (!define(accumulators_, id)) return;
    scope_.emplace_back(&accumulators_, id.index);
    declared_under_[id.index] = enclosing_.size();
    use_typed(names_.of(id), declare.initial, kernel_[id].type);
  }

  void check(const Update& update) {
    const AccumulatorId id = update.accumulator;
    const std::string subject = "update " + names_.of(id);
    if (!use(subject, accumulators_, id)) return;
    use_typed(subject, update.value, kernel_[id].type);
    if (update.times.valid()) {
      use_typed(subject, update.times, kernel_[id].type);
      if (kernel_[id].combine != Combine::add) fault(subject, "only sums take products");
    }
    std::int64_t lanes = 1;
    for (std::size_t n = declared_under_[id.index]; n < enclosing_.size(); ++n) {
      if (enclosing_[n] == nullptr) continue;
      lanes = std::max(lanes, enclosing_[n]->lanes);
      if (enclosing_[n]->parallel && kernel_[enclosing_[n]->variable].extent > 1)
        fault(subject, fmt::format("iterations of parallel {} update one accumulator",
                                   names_.of(enclosing_[n]->variable)));
    }
    if (lanes != kernel_[id].lanes)
      fault(subject, fmt::format("the accumulator has lanes {}, its loop has lanes {}",
                                 kernel_[id].lanes, lanes));
  }

  void check(const Loop& loop) {
    const std::string& subject = names_.of(loop.variable);
    if (!define(loops_, loop.variable)) return;
    check_lanes(subject, loop.lanes);
    if (kernel_[loop.variable].extent < 0) fault(subject, "a loop runs 0 times or more");
    const auto is_vector_loop = [](const Loop* outer) {
      return outer != nullptr && outer->lanes > 1;
    };
    if (loop.lanes > 1 && std::any_of(enclosing_.begin(), enclosing_.end(), is_vector_loop))
      fault(subject, "lanes inside of lanes");
    if (enclosing_.empty()) {
      scratch_of_nest_.clear();
      scratch_left_ = kMaxScratchBytes;
    }
    enclosing_.push_back(&loop);
    check_body(loop.body);
    enclosing_.pop_back();
    loops_[loop.variable.index] = Visibility::out_of_scope;
  }

  void check(const If& branch) {
    use_typed("if", branch.condition, DType::boolean);
    enclosing_.push_back(nullptr);
    check_body(branch.body);
    enclosing_.pop_back();
  }

  void check_body(const Block& body) {
    if (enclosing_.size() > static_cast<std::size_t>(kMaxNestDepth))
      return fault("kernel", fmt::format("blocks nested deeper than {}", kMaxNestDepth));
    check_block(body);
    std::vector<AccumulatorId> updated, read;
    collect(body, updated, read);
    for (const AccumulatorId id : read)
      if (std::find(updated.begin(), updated.end(), id) != updated.end() &&
          id.index < declared_under_.size() && declared_under_[id.index] < enclosing_.size())
        fault(fmt::format("read {}", names_.of(id)), "stands in a block that also updates it");
  }

  static void collect(const Block& block, std::vector<AccumulatorId>& updated,
                      std::vector<AccumulatorId>& read) {
    for (const Statement& statement : block) {
      if (const auto* update = std::get_if<Update>(&statement.value))
        updated.push_back(update->accumulator);
      if (const auto* define = std::get_if<Define>(&statement.value))
        if (const auto* reading = std::get_if<ReadAccumulator>(&define->expression))
          read.push_back(reading->accumulator);
      if (const auto* loop = std::get_if<Loop>(&statement.value))
        collect(loop->body, updated, read);
      if (const auto* branch = std::get_if<If>(&statement.value))
        collect(branch->body, updated, read);
    }
  }

  // Expressions
  // -----------------------------------------------------------------------------------

  void check_type(const std::string& subject, DType expected, DType found) {
    if (expected != found)
      fault(subject,
            fmt::format("is {}, but its type is {}", short_name(expected), short_name(found)));
  }

  void check_expression(const std::string&, const Constant&, DType) {}
  void check_expression(const std::string& subject, const IndexNumber& number, DType type) {
    use(subject, number.index);
    check_type(subject, DType::i64, type);
  }
  void check_expression(const std::string& subject, const Load& load, DType type) {
    if (!use_buffer(subject, load.buffer)) return;
    use(subject, load.at);
    if (load.where.valid()) use_typed(subject, load.where, DType::boolean);
    if (kernel_[load.buffer].access == Access::write)
      fault(subject, fmt::format("{} is only written", names_.of(load.buffer)));
    check_type(subject, value_type(kernel_[load.buffer].dtype), type);
  }
  void check_expression(const std::string& subject, const Apply& apply, DType type) {
    std::vector<DType> operands;
    for (const ValueId operand : apply.operands) {
      if (!use(subject, values_, operand)) return;
      operands.push_back(kernel_[operand].type);
    }
    if (auto why = type_fault(apply.op, operands, type, apply.stored)) fault(subject, *why);
  }
  void check_expression(const std::string& subject, const Checked& checked, DType type) {
    use_typed(subject, checked.value, DType::i64);
    check_type(subject, DType::i64, type);
    if (checked.below < 0) fault(subject, "a check has a bound of 0 or more");
  }
  void check_expression(const std::string& subject, const ReadAccumulator& read, DType type) {
    if (use(subject, accumulators_, read.accumulator))
      check_type(subject, kernel_[read.accumulator].type, type);
  }

  const Kernel& kernel_;
  const Names names_;
  Diagnostics faults_;
  std::vector<Visibility> values_, loops_, accumulators_;
  std::vector<std::size_t> declared_under_;  // by accumulator: the number of enclosing blocks
  std::vector<const Loop*> enclosing_;       // null: an if
  std::set<std::uint32_t> scratch_of_nest_;  // used by the current outermost loop,
  std::int64_t scratch_left_ = 0;            // and the bytes that are left for it
  std::vector<std::pair<std::vector<Visibility>*, std::uint32_t>>
      scope_;  // defined in the current block
};

}  // namespace

Diagnostics verify(const Kernel& kernel) { return Verifier(kernel).run(); }

}  // namespace recut::loop
