// Scalar operators as WebAssembly instructions, for one number and for lanes of 128 bits. A table
// gives the pair of instructions by type; operators without a pair are sequences: division and
// shifts whose edge cases would trap or be masked, min and max that keep NaN, 64-bit comparisons
// whose masks are narrowed to 32 bits a lane. Integer division has no vector form and runs lane by
// lane.
#include "engine/codegen/wasm/arithmetic_code.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/codegen/wasm/lanes.h"
#include "engine/support/check.h"

namespace recut::wasm {
namespace {

using loop::ScalarOp;

// The scalar and the vector instruction; `end`: there is none.
struct OpPair {
  Op one = Op::end, lanes = Op::end;
};
// Operators that are one instruction, by type.
struct InstructionRow {
  ScalarOp op;
  OpPair f32, f64, i32, i64;
};
constexpr OpPair kNone{};
constexpr std::array kInstructions{
    InstructionRow{ScalarOp::add,
                   {Op::f32_add, Op::f32x4_add},
                   {Op::f64_add, Op::f64x2_add},
                   {Op::i32_add, Op::i32x4_add},
                   {Op::i64_add, Op::i64x2_add}},
    InstructionRow{ScalarOp::sub,
                   {Op::f32_sub, Op::f32x4_sub},
                   {Op::f64_sub, Op::f64x2_sub},
                   {Op::i32_sub, Op::i32x4_sub},
                   {Op::i64_sub, Op::i64x2_sub}},
    InstructionRow{ScalarOp::mul,
                   {Op::f32_mul, Op::f32x4_mul},
                   {Op::f64_mul, Op::f64x2_mul},
                   {Op::i32_mul, Op::i32x4_mul},
                   {Op::i64_mul, Op::i64x2_mul}},
    InstructionRow{
        ScalarOp::div, {Op::f32_div, Op::f32x4_div}, {Op::f64_div, Op::f64x2_div}, kNone, kNone},
    InstructionRow{ScalarOp::neg,
                   {Op::f32_neg, Op::f32x4_neg},
                   {Op::f64_neg, Op::f64x2_neg},
                   {Op::end, Op::i32x4_neg},
                   {Op::end, Op::i64x2_neg}},
    InstructionRow{ScalarOp::abs,
                   {Op::f32_abs, Op::f32x4_abs},
                   {Op::f64_abs, Op::f64x2_abs},
                   {Op::end, Op::i32x4_abs},
                   {Op::end, Op::i64x2_abs}},
    InstructionRow{ScalarOp::sqrt,
                   {Op::f32_sqrt, Op::f32x4_sqrt},
                   {Op::f64_sqrt, Op::f64x2_sqrt},
                   kNone,
                   kNone},
    InstructionRow{ScalarOp::floor,
                   {Op::f32_floor, Op::f32x4_floor},
                   {Op::f64_floor, Op::f64x2_floor},
                   kNone,
                   kNone},
    InstructionRow{ScalarOp::ceil,
                   {Op::f32_ceil, Op::f32x4_ceil},
                   {Op::f64_ceil, Op::f64x2_ceil},
                   kNone,
                   kNone},
    InstructionRow{ScalarOp::trunc,
                   {Op::f32_trunc, Op::f32x4_trunc},
                   {Op::f64_trunc, Op::f64x2_trunc},
                   kNone,
                   kNone},
    InstructionRow{ScalarOp::nearest,
                   {Op::f32_nearest, Op::f32x4_nearest},
                   {Op::f64_nearest, Op::f64x2_nearest},
                   kNone,
                   kNone},
    InstructionRow{
        ScalarOp::copysign, {Op::f32_copysign, Op::end}, {Op::f64_copysign, Op::end}, kNone, kNone},
    InstructionRow{ScalarOp::max, kNone, kNone, {Op::end, Op::i32x4_max_s}, kNone},
    InstructionRow{ScalarOp::min, kNone, kNone, {Op::end, Op::i32x4_min_s}, kNone},
    InstructionRow{
        ScalarOp::bit_and, kNone, kNone, {Op::i32_and, Op::v128_and}, {Op::i64_and, Op::v128_and}},
    InstructionRow{
        ScalarOp::bit_or, kNone, kNone, {Op::i32_or, Op::v128_or}, {Op::i64_or, Op::v128_or}},
    InstructionRow{
        ScalarOp::bit_xor, kNone, kNone, {Op::i32_xor, Op::v128_xor}, {Op::i64_xor, Op::v128_xor}},
};

// Comparisons, by type; bools compare as unsigned i32.
struct Comparison {
  ScalarOp op;
  OpPair f32, f64, i32, i64, boolean;
};
#define COMPARISON(op, real, integer, natural)                                                \
  Comparison {                                                                                \
    ScalarOp::op, {Op::f32_##real, Op::f32x4_##real}, {Op::f64_##real, Op::f64x2_##real},     \
        {Op::i32_##integer, Op::i32x4_##integer}, {Op::i64_##integer, Op::i64x2_##integer}, { \
      Op::i32_##natural, Op::i32x4_##natural                                                  \
    }                                                                                         \
  }
constexpr std::array kComparisons{
    COMPARISON(eq, eq, eq, eq),     COMPARISON(ne, ne, ne, ne),     COMPARISON(lt, lt, lt_s, lt_u),
    COMPARISON(le, le, le_s, le_u), COMPARISON(gt, gt, gt_s, gt_u), COMPARISON(ge, ge, ge_s, ge_u),
};
#undef COMPARISON

template <class Table>
auto find(const Table& table, ScalarOp op) {
  const auto row =
      std::find_if(table.begin(), table.end(), [&](const auto& one) { return one.op == op; });
  return row != table.end() ? &*row : nullptr;
}

OpPair of_type(const InstructionRow& row, DType type) {
  switch (type) {
    case DType::f32:
      return row.f32;
    case DType::f64:
      return row.f64;
    case DType::i64:
      return row.i64;
    default:
      return row.i32;
  }
}

// One instruction, on vectors or on scalars.
WasmValue instruction_code(FunctionBuilder& fn, OpPair pair, DType result,
                           std::span<const WasmValue> operands) {
  const std::int64_t lanes = width(operands);
  if (lanes == 1) {
    for (const WasmValue& operand : operands) fn.push(operand);
    fn.emit(pair.one);
    return fn.pop_value(result);
  }
  return fn.vectors(result, lanes, [&](std::size_t piece) {
    for (const WasmValue& operand : operands) fn.push(operand, piece);
    fn.emit(pair.lanes);
  });
}

// Narrows 64-bit masks to 32 bits a lane.
WasmValue narrow_masks(FunctionBuilder& fn, const WasmValue& masks) {
  return fn.vectors(DType::boolean, masks.lanes, [&](std::size_t piece) {
    fn.push(masks, 2 * piece);
    fn.push(masks, 2 * piece + 1);
    fn.emit(Op::i8x16_shuffle, 0x0b0a090803020100, 0x1b1a191813121110);
  });
}

WasmValue compare(FunctionBuilder& fn, ScalarOp op, const WasmValue& a, const WasmValue& b) {
  const Comparison* row = find(kComparisons, op);
  const std::array operands{a, b};
  const OpPair pair = a.type == DType::boolean
                          ? row->boolean
                          : of_type({op, row->f32, row->f64, row->i32, row->i64}, a.type);
  const bool wide = pieces_of(a.type, 8) != pieces_of(DType::boolean, 8);
  if (width(operands) == 1 || !wide) return instruction_code(fn, pair, DType::boolean, operands);
  WasmValue masks = instruction_code(fn, pair, DType::i64, operands);
  return narrow_masks(fn, masks);
}

// True if a number that compares equal to this one has the same bits.
bool is_nonzero(const WasmValue& x) {
  return x.known && x.known->real != 0 && !std::isnan(x.known->real);
}

// pmax(a, b) is b if a < b, else a, which keeps a's NaN; pmin likewise. Against a nonzero constant
// that is enough. Otherwise the operands are swapped, so that b stays if they are equal, and a's
// NaNs are or-ed in.
WasmValue min_or_max_of_lanes(FunctionBuilder& fn, ScalarOp beyond, const WasmValue& a,
                              const WasmValue& b) {
  const bool wide = a.type == DType::f64, most = beyond == ScalarOp::gt;
  const Op nearer =
      wide ? (most ? Op::f64x2_pmax : Op::f64x2_pmin) : (most ? Op::f32x4_pmax : Op::f32x4_pmin);
  const std::array both{a, b};
  if (is_nonzero(b)) return instruction_code(fn, {Op::end, nearer}, a.type, both);
  return fn.vectors(a.type, width(both), [&](std::size_t piece) {
    fn.push(b, piece);
    fn.push(a, piece);
    fn.emit(nearer);
    fn.push(a, piece);
    fn.push(a, piece);
    fn.emit(wide ? Op::f64x2_ne : Op::f32x4_ne);
    fn.emit(Op::v128_or);
  });
}

// a if it is NaN or beyond b, else b.
WasmValue min_or_max(FunctionBuilder& fn, ScalarOp beyond, const WasmValue& a, const WasmValue& b) {
  const std::array both{a, b};
  if (is_floating(a.type) && width(both) > 1) return min_or_max_of_lanes(fn, beyond, a, b);
  const WasmValue further = compare(fn, beyond, a, b);
  if (!is_floating(a.type)) return select_code(fn, further, a, b);
  const std::array either{compare(fn, ScalarOp::ne, a, a), further};
  return select_code(fn, instruction_code(fn, {Op::i32_or, Op::end}, DType::boolean, either), a, b);
}

WasmValue copysign_of_lanes(FunctionBuilder& fn, std::span<const WasmValue> x) {
  const bool wide = x[0].type == DType::f64;
  const std::uint64_t sign = wide ? 0x8000000000000000 : 0x8000000080000000;
  return fn.vectors(x[0].type, width(x), [&](std::size_t piece) {
    fn.push(x[1], piece);
    fn.push(x[0], piece);
    fn.v128(sign, sign);
    fn.emit(Op::v128_bitselect);
  });
}

// a op b of scalars with b != 0; division by -1 wraps around.
WasmValue divide(FunctionBuilder& fn, ScalarOp op, const WasmValue& a, const WasmValue& b) {
  const bool wide = a.type == DType::i64, rest = op == ScalarOp::rem;
  const WasmValue minus_one = FunctionBuilder::integer(a.type, -1),
                  one = FunctionBuilder::integer(a.type, 1);
  const WasmValue negates = compare(fn, ScalarOp::eq, b, minus_one);
  fn.push(a);
  fn.push(select_code(fn, negates, one, b));
  fn.emit(rest ? (wide ? Op::i64_rem_s : Op::i32_rem_s) : (wide ? Op::i64_div_s : Op::i32_div_s));
  const WasmValue quotient = fn.pop_value(a.type);
  const std::array from_zero{FunctionBuilder::integer(a.type, 0), a};
  const OpPair subtraction{wide ? Op::i64_sub : Op::i32_sub, Op::end};
  const WasmValue negated =
      rest ? from_zero[0] : instruction_code(fn, subtraction, a.type, from_zero);
  return select_code(fn, negates, negated, quotient);
}

// A shift by a known amount below the width, or lane by lane by any amount.
WasmValue shift(FunctionBuilder& fn, ScalarOp op, const WasmValue& a, const WasmValue& b) {
  const bool wide = a.type == DType::i64, right = op == ScalarOp::shift_right;
  const std::int64_t bits = wide ? 64 : 32;
  if (b.known && b.known->integer >= 0 && b.known->integer < bits) {
    if (!a.is_vector()) {
      fn.push(a);
      fn.push(b);
      fn.emit(right ? (wide ? Op::i64_shr_s : Op::i32_shr_s) : (wide ? Op::i64_shl : Op::i32_shl));
      return fn.pop_value(a.type);
    }
    return fn.vectors(a.type, a.lanes, [&](std::size_t piece) {
      fn.push(a, piece);
      fn.i32(b.known->integer);
      fn.emit(right ? (wide ? Op::i64x2_shr_s : Op::i32x4_shr_s)
                    : (wide ? Op::i64x2_shl : Op::i32x4_shl));
    });
  }
  const std::array operands{a, b};
  return lane_by_lane(fn, a.type, operands, [&](std::span<const WasmValue> x) {
    const WasmValue last = FunctionBuilder::integer(a.type, bits - 1),
                    zero = FunctionBuilder::integer(a.type, 0);
    fn.push(compare(fn, ScalarOp::ge, x[1], zero));
    fn.push(compare(fn, ScalarOp::le, x[1], last));
    fn.emit(Op::i32_and);
    const WasmValue inside = fn.pop_value(DType::boolean);
    fn.push(x[0]);
    fn.push(select_code(fn, inside, x[1], last));
    fn.emit(right ? (wide ? Op::i64_shr_s : Op::i32_shr_s) : (wide ? Op::i64_shl : Op::i32_shl));
    const WasmValue shifted = fn.pop_value(a.type);
    return right ? shifted : select_code(fn, inside, shifted, zero);
  });
}

WasmValue bit_not(FunctionBuilder& fn, const WasmValue& x) {
  if (x.is_vector())
    return fn.vectors(x.type, x.lanes, [&](std::size_t piece) {
      fn.push(x, piece);
      fn.emit(Op::v128_not);
    });
  const std::array flipped{x, FunctionBuilder::integer(x.type, x.type == DType::boolean ? 1 : -1)};
  return instruction_code(fn, {x.type == DType::i64 ? Op::i64_xor : Op::i32_xor, Op::end}, x.type,
                          flipped);
}

WasmValue integer_operator(FunctionBuilder& fn, ScalarOp op, std::span<const WasmValue> x) {
  const DType type = x[0].type;
  const WasmValue zero = FunctionBuilder::integer(type, 0);
  const OpPair subtraction{type == DType::i64 ? Op::i64_sub : Op::i32_sub, Op::end};
  switch (op) {
    case ScalarOp::max:
      return min_or_max(fn, ScalarOp::gt, x[0], x[1]);
    case ScalarOp::min:
      return min_or_max(fn, ScalarOp::lt, x[0], x[1]);
    case ScalarOp::neg:
      return instruction_code(fn, subtraction, type, std::array{zero, x[0]});
    case ScalarOp::abs:
      return select_code(fn, compare(fn, ScalarOp::lt, x[0], zero),
                         instruction_code(fn, subtraction, type, std::array{zero, x[0]}), x[0]);
    case ScalarOp::bit_not:
      return bit_not(fn, x[0]);
    case ScalarOp::shift_left:
    case ScalarOp::shift_right:
      return shift(fn, op, x[0], x[1]);
    case ScalarOp::quotient:
    case ScalarOp::rem:
      return lane_by_lane(fn, type, x, [&](std::span<const WasmValue> numbers) {
        return divide(fn, op, numbers[0], numbers[1]);
      });
    default:
      break;
  }
  RECUT_CHECK(false, "every operator of integers has instructions");
}

// All bits are 0.
bool is_zero(const WasmValue& x) {
  if (!x.known) return false;
  if (!is_floating(x.type)) return x.known->integer == 0;
  return x.known->real == 0 && !std::signbit(x.known->real);
}

}  // namespace

WasmValue select_code(FunctionBuilder& fn, const WasmValue& condition, const WasmValue& b,
                      const WasmValue& c) {
  const std::array all{condition, b, c};
  if (width(all) == 1) {
    fn.push(b);
    fn.push(c);
    fn.push(condition);
    fn.emit(Op::select);
    return fn.pop_value(b.type);
  }
  const bool wide = pieces_of(b.type, 8) != pieces_of(DType::boolean, 8);
  const bool masks = is_zero(c);
  return fn.vectors(b.type, width(all), [&](std::size_t piece) {
    fn.push(b, piece);
    if (!masks) fn.push(c, piece);
    fn.push(condition, wide ? piece / 2 : piece);
    if (wide)
      fn.emit(piece % 2 == 0 ? Op::i64x2_extend_low_i32x4_s : Op::i64x2_extend_high_i32x4_s);
    fn.emit(masks ? Op::v128_and : Op::v128_bitselect);
  });
}

WasmValue arithmetic_code(FunctionBuilder& fn, ScalarOp op, DType result,
                          std::span<const WasmValue> x) {
  const DType type = x.back().type;
  switch (loop::scalar_operator(op).signature) {
    case loop::Signature::comparison:
      return compare(fn, op, x[0], x[1]);
    case loop::Signature::selection:
      return select_code(fn, x[0], x[1], x[2]);
    case loop::Signature::conversion:
      return convert_code(fn, x[0], result);
    case loop::Signature::reinterpretation:
      return reinterpret_code(fn, x[0], result);
    default:
      break;
  }
  if (const InstructionRow* row = find(kInstructions, op)) {
    const OpPair pair = of_type(*row, type);
    if ((width(x) == 1 ? pair.one : pair.lanes) != Op::end)
      return instruction_code(fn, pair, result, x);
  }
  if (!is_floating(type)) return integer_operator(fn, op, x);
  if (op == ScalarOp::max) return min_or_max(fn, ScalarOp::gt, x[0], x[1]);
  if (op == ScalarOp::min) return min_or_max(fn, ScalarOp::lt, x[0], x[1]);
  RECUT_CHECK(op == ScalarOp::copysign, "every operator of reals has code");
  return copysign_of_lanes(fn, x);
}

}  // namespace recut::wasm
