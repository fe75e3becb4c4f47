// A loop with lanes becomes a vector loop over up to eight iterations at once (two v128 of f32),
// and an epilogue: written out while it is short, so that partials stay in locals, else a scalar
// loop over partials in memory. Loops are rotated (tested at the end), with one test in front where
// the bounds aren't known. Instructions are appended to the block of the innermost loop that their
// operands need (function levels, writer.h): loop-invariant code motion at the time of writing,
// since engines do none.
#include "engine/codegen/wasm/kernel_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engine/codegen/loop/stages.h"
#include "engine/codegen/wasm/narrow_numbers.h"
#include "engine/codegen/wasm/unrolling.h"
#include "engine/codegen/wasm/writer.h"

namespace recut::wasm {
namespace {}  // namespace

KernelCode::KernelCode(const loop::Kernel& kernel, Writer& writer, const Host& host,
                       std::vector<std::string>& faults)
    : kernel_(kernel),
      w_(writer),
      host_(host),
      faults_(faults),
      ranges_(kernel),
      loops_(kernel.loops.size()),
      values_(kernel.values.size()),
      narrow_(narrow_numbers(kernel, ranges_)),
      rooms_(kernel.buffers.size()),
      partials_(kernel.accumulators.size()),
      iteration_(i32(0)) {}

void KernelCode::block(const loop::Block& block) {
  for (const loop::Statement& statement : block) {
    const std::uint32_t around = w_.begin_note(statement.note);
    std::visit([&](const auto& one) { execute(one); }, statement.value);
    w_.begin_note(around);
  }
}

void KernelCode::part(const loop::Loop& loop) {
  const auto bound = [&](Parameter parameter) {
    w_.get(parameter);
    w_.put(Op::i32_wrap_i64);
    return w_.number(DType::i32);
  };
  const Code first = bound(kFirst), last = bound(kLast);
  range(loop, first, last);
}

void KernelCode::execute(const loop::Define& define) {
  values_[define.value.index] = std::visit(
      [&](const auto& expression) { return code(expression, define.value); }, define.expression);
}

void KernelCode::execute(const loop::Loop& loop) {
  range(loop, i32(0), i32(kernel_[loop.variable].extent));
}

void KernelCode::execute(const loop::If& branch) {
  w_.open();
  block(branch.body);
  auto body = w_.close();
  w_.push(values_[branch.condition.index]);
  w_.put(Op::if_);
  w_.append(std::move(body));
  w_.put(Op::end);
}

Code KernelCode::sum(const Code& a, const Code& b) {
  if (a.known && b.known) return i32(a.known->integer + b.known->integer);
  return combine_code(w_, host_, loop::Combine::add, a, b);
}

// A vector loop, then an epilogue.
void KernelCode::range(const loop::Loop& loop, const Code& first, const Code& last) {
  if (fills(loop)) return fill(loop, first, last);
  const bool lanes = loop.lanes >= kNarrowest && loop::fits_lanes(loop.body);
  Code middle = first;
  if (lanes) {
    const bool known = first.known && last.known;
    const Code count = known ? i32(last.known->integer - first.known->integer)
                             : scalar_code(w_, host_, {loop::ScalarOp::sub, {}, DType::none},
                                           DType::i32, std::array{last, first});
    const Code whole =
        known ? i32(count.known->integer & -loop.lanes)
              : combine_code(w_, host_, loop::Combine::bit_and, count, i32(-loop.lanes));
    middle = sum(first, whole);
    in_lanes(loop, first, middle);
  }
  if (middle.known && last.known && middle.known->integer == last.known->integer) return;
  if (lanes && kernel_[loop.variable].extent % loop.lanes == 0) return;
  const auto partials = updated_partials(loop);
  const bool known = lanes && middle.known && last.known;
  if (known && is_short(loop) && (partials.empty() || !stays_in_memory(partials.front())))
    return left_over(loop, middle.known->integer, last.known->integer);
  move(partials, true);
  one_by_one(loop, middle, last);
  move(partials, false);
}

// An unrolled epilogue: vectors while enough iterations are left, then scalar copies of the body.
// Partials stay in locals, since their lanes are constants.
void KernelCode::left_over(const loop::Loop& loop, std::int64_t first, std::int64_t last) {
  std::int64_t next = first;
  for (const std::int64_t width : {kWidest, kNarrowest})
    for (; next + width <= last; next += width)
      counted(i32(next), i32(next + width), width,
              [&](const Code& i) { at_once(loop, width, i, i32(next - first)); });
  for (; next < last; ++next)
    counted(i32(next), i32(next + 1), 1, [&](const Code& i) {
      loops_[loop.variable.index] = i;
      const Code outer = std::exchange(iteration_, i32(next));
      block(loop.body);
      iteration_ = outer;
    });
}

// A counted loop; `body` gets the induction variable. Written straight if it runs once.
template <class Body>
void KernelCode::counted(const Code& first, const Code& last, std::int64_t step, Body body) {
  const bool known = first.known && last.known;
  if (known && first.known->integer >= last.known->integer) return;
  w_.push(first);
  const Local i = w_.keep(Type::i32);
  const auto goes_on = [&] {
    w_.get(i);
    w_.push(last);
    w_.put(Op::i32_lt_s);
  };
  w_.open();
  countings_.push_back({i, first, step, w_.level(), {}});
  body(Code{DType::i32, 1, {i}, std::nullopt, w_.level()});
  const Counting counting = std::move(countings_.back());
  countings_.pop_back();
  if (known && first.known->integer + step >= last.known->integer) return w_.append(w_.close());
  const bool is_read = w_.reads(i);
  for (const auto& [sum, by] : counting.sums) grow(sum, by);
  if (known && !is_read && !counting.sums.empty()) {
    push_end_of(counting, last.known->integer);
    w_.put(Op::i32_ne);
  } else {
    grow(i, step);
    goes_on();
  }
  w_.put(Op::br_if, 0);
  auto iteration = w_.close();
  if (!known) {
    goes_on();
    w_.put(Op::if_);
  }
  w_.put(Op::loop);
  w_.append(std::move(iteration));
  w_.put(Op::end);
  if (!known) w_.put(Op::end);
}

void KernelCode::grow(Local sum, std::int64_t by) {
  w_.get(sum);
  w_.i32(static_cast<std::int32_t>(by));
  w_.put(Op::i32_add);
  w_.set(sum);
}

// Pushes a strength-reduced sum and its final value, for the loop's test.
void KernelCode::push_end_of(const Counting& counting, std::int64_t last) {
  const Local sum = counting.sums.front().first;
  const std::int64_t by = counting.sums.front().second;
  const std::int64_t iterations =
      (last - counting.first.known->integer + counting.step - 1) / counting.step;
  const Local end = w_.at(counting.level - 1, [&] {
    w_.get(sum);
    w_.i32(static_cast<std::int32_t>(by * iterations));
    w_.put(Op::i32_add);
    return w_.keep(Type::i32);
  });
  w_.get(sum);
  w_.get(end);
}

// Two vectors of f32 at once. If there are more partials than that, the body is repeated for each
// part of them: unrolled if they are in locals, as a loop if they are in memory.
void KernelCode::in_lanes(const loop::Loop& loop, const Code& first, const Code& last) {
  const std::int64_t width = std::min(loop.lanes, kWidest);
  const auto partials = updated_partials(loop);
  if (partials.empty() || loop.lanes == width)
    return counted(first, last, width, [&](const Code& i) { at_once(loop, width, i, i32(0)); });
  const bool in_memory = stays_in_memory(partials.front());
  counted(first, last, loop.lanes, [&](const Code& i) {
    if (in_memory)
      return counted(i32(0), i32(loop.lanes), width,
                     [&](const Code& lane) { at_once(loop, width, sum(i, lane), lane); });
    for (std::int64_t lane = 0; lane < loop.lanes; lane += width) {
      w_.open();
      at_once(loop, width, sum(i, i32(lane)), i32(lane));
      w_.append(w_.close());
    }
  });
}

void KernelCode::at_once(const loop::Loop& loop, std::int64_t width, const Code& first,
                         const Code& partial) {
  loops_[loop.variable.index] = first;
  lane_ = {loop.variable, width, partial};
  block(loop.body);
  lane_.reset();
}

void KernelCode::one_by_one(const loop::Loop& loop, const Code& first, const Code& last) {
  if (first.known && last.known && is_unrolled(kernel_, loop)) return unrolled(loop, first, last);
  counted(first, last, 1, [&](const Code& i) {
    loops_[loop.variable.index] = i;
    const Code outer = iteration_;
    if (loop.lanes > 1) iteration_ = i;
    block(loop.body);
    iteration_ = outer;
  });
}

// A fully unrolled loop: the accesses of its copies are at constant offsets.
void KernelCode::unrolled(const loop::Loop& loop, const Code& first, const Code& last) {
  const std::int64_t copies = last.known->integer - first.known->integer;
  counted(first, last, copies, [&](const Code& i) {
    loops_[loop.variable.index] = i;
    for (std::int64_t copy = 0; copy < copies; ++copy) {
      ahead_ = {loop.variable, copy};
      w_.open();
      block(loop.body);
      w_.append(w_.close());
    }
    ahead_.reset();
  });
}

Code KernelCode::code(const loop::Constant& constant, loop::ValueId value) {
  return Writer::constant(kernel_[value].type, {constant.real, constant.integer});
}

Code KernelCode::code(const loop::IndexNumber& number, loop::ValueId value) {
  if (narrow_[value.index]) return narrow_index(number.index);
  return lane_ ? index_in_lanes(number.index) : whole_index(number.index);
}

Code KernelCode::code(const loop::Apply& apply, loop::ValueId value) {
  if (apply.op == loop::ScalarOp::seed) return {DType::i64, 1, {kSeed}, std::nullopt, 0};
  std::vector<Code> operands;
  for (const loop::ValueId operand : apply.operands) operands.push_back(values_[operand.index]);
  if (operands.size() == 2 && operands[0].type != operands[1].type)  // a constant beside one of i32
    for (Code& operand : operands)
      if (operand.known) operand = i32(operand.known->integer);
  const bool divides = apply.op == loop::ScalarOp::quotient || apply.op == loop::ScalarOp::rest;
  if (divides && !is_floating(operands[1].type)) {
    const Code none = Writer::integer(operands[1].type, 0);
    const Code zero = scalar_code(w_, host_, {loop::ScalarOp::eq, {}, DType::none}, DType::boolean,
                                  std::array{operands[1], none});
    tell(zero, "an integer is divided by zero");
    operands[1] = select_code(w_, zero, Writer::integer(operands[1].type, 1), operands[1]);
  }
  return scalar_code(w_, host_, apply, kernel_[value].type, operands);
}

Code KernelCode::code(const loop::Checked& checked, loop::ValueId value) {
  const Code& number = values_[checked.value.index];
  const auto compared = [&](loop::ScalarOp op, std::int64_t with) {
    return scalar_code(w_, host_, {op, {}, DType::none}, DType::boolean,
                       std::array{number, Writer::integer(DType::i64, with)});
  };
  const Code below = compared(loop::ScalarOp::lt, 0);
  const Code bad = combine_code(w_, host_, loop::Combine::bit_or, below,
                                compared(loop::ScalarOp::ge, checked.below));
  tell(bad, fmt::format("an index is out of range for {} places", checked.below));
  ranges_.set(value, {0, checked.below - 1});
  return select_code(w_, bad, Writer::integer(DType::i64, 0), number);
}

std::int64_t KernelCode::reserve(std::int64_t bytes) {
  constexpr std::int64_t kLine = 64;
  const std::int64_t begin = scratch_bytes_;
  scratch_bytes_ += (bytes + kLine - 1) / kLine * kLine;
  return begin;
}

void KernelCode::tell(const Code& bad, std::string message) {
  faults_.push_back(std::move(message));
  if (bad.is_vector()) {
    w_.get(bad.pieces.front());
    for (std::size_t piece = 1; piece < bad.pieces.size(); ++piece) {
      w_.get(bad.pieces[piece]);
      w_.put(Op::v128_or);
    }
    w_.put(Op::v128_any_true);
  } else {
    w_.push(bad);
  }
  w_.put(Op::if_);
  w_.get(kFault);
  w_.put(Op::i64_const, faults_.size());
  w_.put(Instruction{Op::i64_store, 3, 0, 0, 0, 0});
  w_.put(Op::end);
}

}  // namespace recut::wasm
