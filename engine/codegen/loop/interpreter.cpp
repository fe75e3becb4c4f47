// A tree walk over the statements, one number at a time, without any of the transformations that
// targets apply: lanes run one after another, an accumulator is a vector of partials, and iteration
// k updates partial k mod lanes. So it can serve as the reference for all of them. Scratch is
// filled with NaN before each outermost iteration, and parallel loops can run backwards: a kernel
// that reads an element that it never stored, or depends on the order of a parallel loop, gives
// other results.
#include "engine/codegen/loop/interpreter.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "engine/codegen/loop/names.h"
#include "engine/codegen/loop/scalar_semantics.h"

namespace recut::loop {
namespace {

class Interpreter {
 public:
  Interpreter(const Kernel& kernel, std::span<const std::span<std::byte>> memory,
              const RunOptions& options)
      : kernel_(kernel),
        memory_(memory.begin(), memory.end()),
        options_(options),
        loops_(kernel.loops.size(), 0),
        values_(kernel.values.size()),
        accumulators_(kernel.accumulators.size()) {
    for (std::size_t b = memory.size(); b < kernel.buffers.size(); ++b) {
      const Buffer& scratch = kernel.buffers[b];
      scratch_.emplace_back(static_cast<std::size_t>(scratch.elements * item_bytes(scratch.dtype)));
      memory_.emplace_back(scratch_.back());
    }
  }

  Result<Done> run() {
    if (run_block(kernel_.body)) return Done{};
    return error(fault_);
  }

 private:
  bool fail(std::string message) {
    fault_ = std::move(message);
    return false;
  }

  Number& value(ValueId id) { return values_[id.index]; }

  std::int64_t index_value(const Index& index) const {
    return evaluate(index, [&](const Atom& atom) {
      return atom.kind == AtomKind::loop ? loops_[atom.id] : values_[atom.id].integer;
    });
  }

  // The element's memory; null where the index lies outside of the buffer.
  std::byte* element(BufferId id, const Index& index) {
    const std::int64_t at = index_value(index);
    if (at >= 0 && at < kernel_[id].elements)
      return memory_[id.index].data() + at * item_bytes(kernel_[id].dtype);
    const Names names(kernel_);
    fail(fmt::format("{}[{}] is reached of {} elements, by {}", names.of(id), at,
                     kernel_[id].elements, format(index, names)));
    return nullptr;
  }

  bool run_block(const Block& block) {
    for (const Statement& statement : block)
      if (!std::visit([&](const auto& s) { return execute(s); }, statement.value)) return false;
    return true;
  }

  bool execute(const Define& define) {
    return std::visit(
        [&](const auto& e) { return eval(e, kernel_[define.value].type, value(define.value)); },
        define.expression);
  }

  bool execute(const Store& store) {
    std::byte* at = element(store.buffer, store.at);
    if (at == nullptr) return false;
    const DType dtype = kernel_[store.buffer].dtype;
    const Number stored = value(store.value);
    write_element(dtype, at,
                  store.combine ? combine(*store.combine, kernel_[store.value].type,
                                          read_element(dtype, at), stored)
                                : stored);
    return true;
  }

  bool execute(const Declare& declare) {
    const Accumulator& accumulator = kernel_[declare.accumulator];
    const Constant start = neutral(accumulator.combine, accumulator.type);
    auto& partials = accumulators_[declare.accumulator.index];
    partials.assign(static_cast<std::size_t>(accumulator.lanes), {start.real, start.integer});
    partials[0] = value(declare.initial);
    return true;
  }

  bool execute(const Update& update) {
    const Accumulator& accumulator = kernel_[update.accumulator];
    auto& partials = accumulators_[update.accumulator.index];
    Number& partial = partials[static_cast<std::size_t>(iteration_ % accumulator.lanes)];
    partial =
        update.times.valid()
            ? multiply_add(accumulator.type, value(update.value), value(update.times), partial)
            : combine(accumulator.combine, accumulator.type, partial, value(update.value));
    return true;
  }

  bool execute(const Loop& loop) {
    const std::int64_t extent = kernel_[loop.variable].extent;
    const std::int64_t outer = iteration_;
    const bool backwards = loop.parallel && options_.parallel_backwards;
    ++depth_;
    for (std::int64_t i = 0; i < extent; ++i) {
      if (depth_ == 1) poison_scratch();
      loops_[loop.variable.index] = backwards ? extent - 1 - i : i;
      if (loop.lanes > 1) iteration_ = loops_[loop.variable.index];
      if (!run_block(loop.body)) return false;
    }
    --depth_;
    iteration_ = outer;
    return true;
  }

  // NaN, and -1 for integers, so that reading an element that was never stored shows.
  void poison_scratch() {
    for (std::vector<std::byte>& bytes : scratch_)
      std::fill(bytes.begin(), bytes.end(), std::byte{0xff});
  }

  bool execute(const If& branch) {
    return value(branch.condition).integer == 0 || run_block(branch.body);
  }

  bool eval(const Constant& constant, DType type, Number& out) {
    out = as_type(type, {constant.real, constant.integer});
    return true;
  }
  bool eval(const IndexNumber& number, DType, Number& out) {
    out = {0, index_value(number.index)};
    return true;
  }
  bool eval(const Load& load, DType, Number& out) {
    out = {};
    if (load.where.valid() && value(load.where).integer == 0) return true;
    const std::byte* at = element(load.buffer, load.at);
    if (at == nullptr) return false;
    out = read_element(kernel_[load.buffer].dtype, at);
    return true;
  }
  bool eval(const Apply& apply, DType type, Number& out) {
    std::array<Number, 3> operands;
    for (std::size_t i = 0; i < apply.operands.size(); ++i) operands[i] = value(apply.operands[i]);
    const DType taken = apply.operands.empty() ? type : kernel_[apply.operands.back()].type;
    return compute(apply, taken, type, std::span(operands).first(apply.operands.size()),
                   options_.seed, out) ||
           fail("an integer is divided by zero");
  }
  bool eval(const Checked& checked, DType, Number& out) {
    out = value(checked.value);
    return (out.integer >= 0 && out.integer < checked.below) ||
           fail(fmt::format("index {} is out of range for size {}", out.integer, checked.below));
  }
  bool eval(const ReadAccumulator& read, DType, Number& out) {
    const Accumulator& accumulator = kernel_[read.accumulator];
    std::vector<Number> partials = accumulators_[read.accumulator.index];
    for (std::size_t half = partials.size() / 2; half > 0; half /= 2)
      for (std::size_t p = 0; p < half; ++p)
        partials[p] =
            combine(accumulator.combine, accumulator.type, partials[p], partials[p + half]);
    out = partials[0];
    return true;
  }

  const Kernel& kernel_;
  std::vector<std::span<std::byte>> memory_;  // by buffer
  std::vector<std::vector<std::byte>> scratch_;
  const RunOptions& options_;
  std::vector<std::int64_t> loops_;
  std::vector<Number> values_;
  std::vector<std::vector<Number>> accumulators_;
  std::int64_t iteration_ = 0;  // of the innermost loop that has lanes
  int depth_ = 0;               // of open loops
  std::string fault_;
};

}  // namespace

Result<Done> run(const Kernel& kernel, std::span<const std::span<std::byte>> memory,
                 const RunOptions& options) {
  RECUT_CHECK(memory.size() == parameter_count(kernel), "every buffer has its memory");
  for (std::size_t b = 0; b < memory.size(); ++b)
    RECUT_CHECK(static_cast<std::int64_t>(memory[b].size()) ==
                    kernel.buffers[b].elements * item_bytes(kernel.buffers[b].dtype),
                "a buffer's memory has its bytes");
  return Interpreter(kernel, memory, options).run();
}

}  // namespace recut::loop
