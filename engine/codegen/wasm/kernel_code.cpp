// A loop with lanes becomes a vector loop over up to eight iterations at once (two v128 of f32),
// and an epilogue: written out while it is short, so that partials stay in locals, else a scalar
// loop over partials in memory. Loops are rotated (tested at the end), with one test in front where
// the bounds aren't known. Instructions are appended to the block of the innermost loop that their
// operands need (function levels, function_builder.h): loop-invariant code motion at the time of
// writing, since engines do none.
#include "engine/codegen/wasm/kernel_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engine/codegen/loop/stages.h"
#include "engine/codegen/wasm/function_builder.h"
#include "engine/codegen/wasm/index_narrowing.h"
#include "engine/codegen/wasm/unrolling.h"

namespace recut::wasm {
namespace {}  // namespace

KernelCode::KernelCode(const loop::Kernel& kernel, FunctionBuilder& builder, const Host& host,
                       std::vector<std::string>& faults)
    : kernel_(kernel),
      fn_(builder),
      host_(host),
      faults_(faults),
      ranges_(kernel),
      loops_(kernel.loops.size()),
      values_(kernel.values.size()),
      narrow_(narrowable_indices(kernel, ranges_)),
      scratch_offsets_(kernel.buffers.size()),
      partials_(kernel.accumulators.size()),
      iteration_(i32(0)) {}

void KernelCode::block(const loop::Block& block) {
  for (const loop::Statement& statement : block) {
    const std::uint32_t around = fn_.set_location(statement.location);
    std::visit([&](const auto& one) { execute(one); }, statement.value);
    fn_.set_location(around);
  }
}

void KernelCode::partial_loop(const loop::Loop& loop) {
  const auto bound = [&](Parameter parameter) {
    fn_.get(parameter);
    fn_.emit(Op::i32_wrap_i64);
    return fn_.pop_value(DType::i32);
  };
  const WasmValue first = bound(kFirst), last = bound(kLast);
  split_loop(loop, first, last);
}

void KernelCode::execute(const loop::Define& define) {
  values_[define.value.index] = std::visit(
      [&](const auto& expression) { return code(expression, define.value); }, define.expression);
}

void KernelCode::execute(const loop::Loop& loop) {
  split_loop(loop, i32(0), i32(kernel_[loop.variable].extent));
}

void KernelCode::execute(const loop::If& branch) {
  fn_.open();
  block(branch.body);
  auto body = fn_.close();
  fn_.push(values_[branch.condition.index]);
  fn_.emit(Op::if_);
  fn_.append(std::move(body));
  fn_.emit(Op::end);
}

WasmValue KernelCode::sum(const WasmValue& a, const WasmValue& b) {
  if (a.known && b.known) return i32(a.known->integer + b.known->integer);
  return combine_code(fn_, host_, loop::Combine::add, a, b);
}

// A vector loop, then an epilogue.
void KernelCode::split_loop(const loop::Loop& loop, const WasmValue& first, const WasmValue& last) {
  if (is_fill(loop)) return fill(loop, first, last);
  const bool lanes = loop.lanes >= kMinWidth && loop::is_vectorizable(loop.body);
  WasmValue middle = first;
  if (lanes) {
    const bool known = first.known && last.known;
    const WasmValue count = known ? i32(last.known->integer - first.known->integer)
                                  : scalar_code(fn_, host_, {loop::ScalarOp::sub, {}, DType::none},
                                                DType::i32, std::array{last, first});
    const WasmValue whole =
        known ? i32(count.known->integer & -loop.lanes)
              : combine_code(fn_, host_, loop::Combine::bit_and, count, i32(-loop.lanes));
    middle = sum(first, whole);
    vector_loop(loop, first, middle);
  }
  if (middle.known && last.known && middle.known->integer == last.known->integer) return;
  if (lanes && kernel_[loop.variable].extent % loop.lanes == 0) return;
  const auto partials = updated_partials(loop);
  const bool known = lanes && middle.known && last.known;
  if (known && is_short(loop) && (partials.empty() || !stays_in_memory(partials.front())))
    return epilogue_loop(loop, middle.known->integer, last.known->integer);
  spill_or_reload(partials, true);
  scalar_loop(loop, middle, last);
  spill_or_reload(partials, false);
}

// An unrolled epilogue: vectors while enough iterations are left, then scalar copies of the body.
// Partials stay in locals, since their lanes are constants.
void KernelCode::epilogue_loop(const loop::Loop& loop, std::int64_t first, std::int64_t last) {
  std::int64_t next = first;
  for (const std::int64_t width : {kMaxWidth, kMinWidth})
    for (; next + width <= last; next += width)
      counted_loop(i32(next), i32(next + width), width,
                   [&](const WasmValue& i) { vector_body(loop, width, i, i32(next - first)); });
  for (; next < last; ++next)
    counted_loop(i32(next), i32(next + 1), 1, [&](const WasmValue& i) {
      loops_[loop.variable.index] = i;
      const WasmValue outer = std::exchange(iteration_, i32(next));
      block(loop.body);
      iteration_ = outer;
    });
}

// A counted loop; `body` gets the induction variable. Written straight if it runs once.
template <class Body>
void KernelCode::counted_loop(const WasmValue& first, const WasmValue& last, std::int64_t step,
                              Body body) {
  const bool known = first.known && last.known;
  if (known && first.known->integer >= last.known->integer) return;
  fn_.push(first);
  const Local i = fn_.pop_to_local(Type::i32);
  const auto push_condition = [&] {
    fn_.get(i);
    fn_.push(last);
    fn_.emit(Op::i32_lt_s);
  };
  fn_.open();
  inductions_.push_back({i, first, step, fn_.level(), {}});
  body(WasmValue{DType::i32, 1, {i}, std::nullopt, fn_.level()});
  const InductionLoop induction = std::move(inductions_.back());
  inductions_.pop_back();
  if (known && first.known->integer + step >= last.known->integer) return fn_.append(fn_.close());
  const bool is_read = fn_.reads(i);
  for (const auto& [sum, by] : induction.sums) increment(sum, by);
  if (known && !is_read && !induction.sums.empty()) {
    push_end_of(induction, last.known->integer);
    fn_.emit(Op::i32_ne);
  } else {
    increment(i, step);
    push_condition();
  }
  fn_.emit(Op::br_if, 0);
  auto iteration = fn_.close();
  if (!known) {
    push_condition();
    fn_.emit(Op::if_);
  }
  fn_.emit(Op::loop);
  fn_.append(std::move(iteration));
  fn_.emit(Op::end);
  if (!known) fn_.emit(Op::end);
}

void KernelCode::increment(Local sum, std::int64_t by) {
  fn_.get(sum);
  fn_.i32(static_cast<std::int32_t>(by));
  fn_.emit(Op::i32_add);
  fn_.set(sum);
}

// Pushes a strength-reduced sum and its final value, for the loop's test.
void KernelCode::push_end_of(const InductionLoop& induction, std::int64_t last) {
  const Local sum = induction.sums.front().first;
  const std::int64_t by = induction.sums.front().second;
  const std::int64_t iterations =
      (last - induction.first.known->integer + induction.step - 1) / induction.step;
  const Local end = fn_.at(induction.level - 1, [&] {
    fn_.get(sum);
    fn_.i32(static_cast<std::int32_t>(by * iterations));
    fn_.emit(Op::i32_add);
    return fn_.pop_to_local(Type::i32);
  });
  fn_.get(sum);
  fn_.get(end);
}

// Two vectors of f32 at once. If there are more partials than that, the body is repeated for each
// part of them: unrolled if they are in locals, as a loop if they are in memory.
void KernelCode::vector_loop(const loop::Loop& loop, const WasmValue& first,
                             const WasmValue& last) {
  const std::int64_t width = std::min(loop.lanes, kMaxWidth);
  const auto partials = updated_partials(loop);
  if (partials.empty() || loop.lanes == width)
    return counted_loop(first, last, width,
                        [&](const WasmValue& i) { vector_body(loop, width, i, i32(0)); });
  const bool in_memory = stays_in_memory(partials.front());
  counted_loop(first, last, loop.lanes, [&](const WasmValue& i) {
    if (in_memory)
      return counted_loop(i32(0), i32(loop.lanes), width, [&](const WasmValue& lane) {
        vector_body(loop, width, sum(i, lane), lane);
      });
    for (std::int64_t lane = 0; lane < loop.lanes; lane += width) {
      fn_.open();
      vector_body(loop, width, sum(i, i32(lane)), i32(lane));
      fn_.append(fn_.close());
    }
  });
}

void KernelCode::vector_body(const loop::Loop& loop, std::int64_t width, const WasmValue& first,
                             const WasmValue& partial) {
  loops_[loop.variable.index] = first;
  lane_ = {loop.variable, width, partial};
  block(loop.body);
  lane_.reset();
}

void KernelCode::scalar_loop(const loop::Loop& loop, const WasmValue& first,
                             const WasmValue& last) {
  if (first.known && last.known && is_unrolled(kernel_, loop))
    return unrolled_loop(loop, first, last);
  counted_loop(first, last, 1, [&](const WasmValue& i) {
    loops_[loop.variable.index] = i;
    const WasmValue outer = iteration_;
    if (loop.lanes > 1) iteration_ = i;
    block(loop.body);
    iteration_ = outer;
  });
}

// A fully unrolled loop: the accesses of its copies are at constant offsets.
void KernelCode::unrolled_loop(const loop::Loop& loop, const WasmValue& first,
                               const WasmValue& last) {
  const std::int64_t copies = last.known->integer - first.known->integer;
  counted_loop(first, last, copies, [&](const WasmValue& i) {
    loops_[loop.variable.index] = i;
    for (std::int64_t copy = 0; copy < copies; ++copy) {
      unroll_offset_ = {loop.variable, copy};
      fn_.open();
      block(loop.body);
      fn_.append(fn_.close());
    }
    unroll_offset_.reset();
  });
}

WasmValue KernelCode::code(const loop::Constant& constant, loop::ValueId value) {
  return FunctionBuilder::constant(kernel_[value].type, {constant.real, constant.integer});
}

WasmValue KernelCode::code(const loop::IndexNumber& number, loop::ValueId value) {
  if (narrow_[value.index]) return narrow_index(number.index);
  return lane_ ? index_in_lanes(number.index) : whole_index(number.index);
}

WasmValue KernelCode::code(const loop::Apply& apply, loop::ValueId value) {
  if (apply.op == loop::ScalarOp::seed) return {DType::i64, 1, {kSeed}, std::nullopt, 0};
  std::vector<WasmValue> operands;
  for (const loop::ValueId operand : apply.operands) operands.push_back(values_[operand.index]);
  if (operands.size() == 2 && operands[0].type != operands[1].type)  // a constant beside one of i32
    for (WasmValue& operand : operands)
      if (operand.known) operand = i32(operand.known->integer);
  const bool divides = apply.op == loop::ScalarOp::quotient || apply.op == loop::ScalarOp::rem;
  if (divides && !is_floating(operands[1].type)) {
    const WasmValue none = FunctionBuilder::integer(operands[1].type, 0);
    const WasmValue zero = scalar_code(fn_, host_, {loop::ScalarOp::eq, {}, DType::none},
                                       DType::boolean, std::array{operands[1], none});
    report_fault(zero, "an integer is divided by zero");
    operands[1] =
        select_code(fn_, zero, FunctionBuilder::integer(operands[1].type, 1), operands[1]);
  }
  return scalar_code(fn_, host_, apply, kernel_[value].type, operands);
}

WasmValue KernelCode::code(const loop::Checked& checked, loop::ValueId value) {
  const WasmValue& number = values_[checked.value.index];
  const auto compared = [&](loop::ScalarOp op, std::int64_t with) {
    return scalar_code(fn_, host_, {op, {}, DType::none}, DType::boolean,
                       std::array{number, FunctionBuilder::integer(DType::i64, with)});
  };
  const WasmValue below = compared(loop::ScalarOp::lt, 0);
  const WasmValue bad = combine_code(fn_, host_, loop::Combine::bit_or, below,
                                     compared(loop::ScalarOp::ge, checked.below));
  report_fault(bad, fmt::format("an index is out of range for size {}", checked.below));
  ranges_.set(value, {0, checked.below - 1});
  return select_code(fn_, bad, FunctionBuilder::integer(DType::i64, 0), number);
}

std::int64_t KernelCode::reserve(std::int64_t bytes) {
  constexpr std::int64_t kLine = 64;
  const std::int64_t begin = scratch_bytes_;
  scratch_bytes_ += (bytes + kLine - 1) / kLine * kLine;
  return begin;
}

void KernelCode::report_fault(const WasmValue& bad, std::string message) {
  faults_.push_back(std::move(message));
  if (bad.is_vector()) {
    fn_.get(bad.pieces.front());
    for (std::size_t piece = 1; piece < bad.pieces.size(); ++piece) {
      fn_.get(bad.pieces[piece]);
      fn_.emit(Op::v128_or);
    }
    fn_.emit(Op::v128_any_true);
  } else {
    fn_.push(bad);
  }
  fn_.emit(Op::if_);
  fn_.get(kFault);
  fn_.emit(Op::i64_const, faults_.size());
  fn_.emit(Instruction{Op::i64_store, 3, 0, 0, 0, 0});
  fn_.emit(Op::end);
}

}  // namespace recut::wasm
