// Scalar operators as WebAssembly instructions, for one number and for lanes of 128 bits. A table
// gives the pair of instructions by type; what has none is a sequence: division and shifts whose
// edge cases would trap or be masked, min and max that keep NaN, 64-bit comparisons whose masks are
// narrowed to 32 bits a lane. Integer division has no vector form and runs lane by lane.
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
struct Pair {
  Op one = Op::end, lanes = Op::end;
};
// Operators that are one instruction, by type.
struct Plain {
  ScalarOp op;
  Pair f32, f64, i32, i64;
};
constexpr Pair kNone{};
constexpr std::array kPlain{
    Plain{ScalarOp::add,
          {Op::f32_add, Op::f32x4_add},
          {Op::f64_add, Op::f64x2_add},
          {Op::i32_add, Op::i32x4_add},
          {Op::i64_add, Op::i64x2_add}},
    Plain{ScalarOp::sub,
          {Op::f32_sub, Op::f32x4_sub},
          {Op::f64_sub, Op::f64x2_sub},
          {Op::i32_sub, Op::i32x4_sub},
          {Op::i64_sub, Op::i64x2_sub}},
    Plain{ScalarOp::mul,
          {Op::f32_mul, Op::f32x4_mul},
          {Op::f64_mul, Op::f64x2_mul},
          {Op::i32_mul, Op::i32x4_mul},
          {Op::i64_mul, Op::i64x2_mul}},
    Plain{ScalarOp::div, {Op::f32_div, Op::f32x4_div}, {Op::f64_div, Op::f64x2_div}, kNone, kNone},
    Plain{ScalarOp::neg,
          {Op::f32_neg, Op::f32x4_neg},
          {Op::f64_neg, Op::f64x2_neg},
          {Op::end, Op::i32x4_neg},
          {Op::end, Op::i64x2_neg}},
    Plain{ScalarOp::abs,
          {Op::f32_abs, Op::f32x4_abs},
          {Op::f64_abs, Op::f64x2_abs},
          {Op::end, Op::i32x4_abs},
          {Op::end, Op::i64x2_abs}},
    Plain{ScalarOp::sqrt,
          {Op::f32_sqrt, Op::f32x4_sqrt},
          {Op::f64_sqrt, Op::f64x2_sqrt},
          kNone,
          kNone},
    Plain{ScalarOp::floor,
          {Op::f32_floor, Op::f32x4_floor},
          {Op::f64_floor, Op::f64x2_floor},
          kNone,
          kNone},
    Plain{ScalarOp::ceil,
          {Op::f32_ceil, Op::f32x4_ceil},
          {Op::f64_ceil, Op::f64x2_ceil},
          kNone,
          kNone},
    Plain{ScalarOp::trunc,
          {Op::f32_trunc, Op::f32x4_trunc},
          {Op::f64_trunc, Op::f64x2_trunc},
          kNone,
          kNone},
    Plain{ScalarOp::nearest,
          {Op::f32_nearest, Op::f32x4_nearest},
          {Op::f64_nearest, Op::f64x2_nearest},
          kNone,
          kNone},
    Plain{
        ScalarOp::copysign, {Op::f32_copysign, Op::end}, {Op::f64_copysign, Op::end}, kNone, kNone},
    Plain{ScalarOp::max, kNone, kNone, {Op::end, Op::i32x4_max_s}, kNone},
    Plain{ScalarOp::min, kNone, kNone, {Op::end, Op::i32x4_min_s}, kNone},
    Plain{
        ScalarOp::bit_and, kNone, kNone, {Op::i32_and, Op::v128_and}, {Op::i64_and, Op::v128_and}},
    Plain{ScalarOp::bit_or, kNone, kNone, {Op::i32_or, Op::v128_or}, {Op::i64_or, Op::v128_or}},
    Plain{
        ScalarOp::bit_xor, kNone, kNone, {Op::i32_xor, Op::v128_xor}, {Op::i64_xor, Op::v128_xor}},
};

// Comparisons, by type; bools compare as unsigned i32.
struct Comparison {
  ScalarOp op;
  Pair f32, f64, i32, i64, boolean;
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

Pair of_type(const Plain& row, DType type) {
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
Code plainly(Writer& w, Pair pair, DType result, std::span<const Code> operands) {
  const std::int64_t lanes = width(operands);
  if (lanes == 1) {
    for (const Code& operand : operands) w.push(operand);
    w.put(pair.one);
    return w.number(result);
  }
  return w.vectors(result, lanes, [&](std::size_t piece) {
    for (const Code& operand : operands) w.push(operand, piece);
    w.put(pair.lanes);
  });
}

// Narrows 64-bit masks to 32 bits a lane.
Code narrow_masks(Writer& w, const Code& masks) {
  return w.vectors(DType::boolean, masks.lanes, [&](std::size_t piece) {
    w.push(masks, 2 * piece);
    w.push(masks, 2 * piece + 1);
    w.put(Op::i8x16_shuffle, 0x0b0a090803020100, 0x1b1a191813121110);
  });
}

Code compare(Writer& w, ScalarOp op, const Code& a, const Code& b) {
  const Comparison* row = find(kComparisons, op);
  const std::array operands{a, b};
  const Pair pair = a.type == DType::boolean
                        ? row->boolean
                        : of_type({op, row->f32, row->f64, row->i32, row->i64}, a.type);
  const bool wide = pieces_of(a.type, 8) != pieces_of(DType::boolean, 8);
  if (width(operands) == 1 || !wide) return plainly(w, pair, DType::boolean, operands);
  Code masks = plainly(w, pair, DType::i64, operands);
  return narrow_masks(w, masks);
}

// True if a number that compares equal to this one has the same bits.
bool is_nonzero(const Code& x) {
  return x.known && x.known->real != 0 && !std::isnan(x.known->real);
}

// pmax(a, b) is b if a < b, else a, which keeps a's NaN; pmin likewise. Against a nonzero constant
// that is enough. Otherwise the operands are swapped, so that b stays if they are equal, and a's
// NaNs are or-ed in.
Code extreme_of_lanes(Writer& w, ScalarOp beyond, const Code& a, const Code& b) {
  const bool wide = a.type == DType::f64, most = beyond == ScalarOp::gt;
  const Op nearer =
      wide ? (most ? Op::f64x2_pmax : Op::f64x2_pmin) : (most ? Op::f32x4_pmax : Op::f32x4_pmin);
  const std::array both{a, b};
  if (is_nonzero(b)) return plainly(w, {Op::end, nearer}, a.type, both);
  return w.vectors(a.type, width(both), [&](std::size_t piece) {
    w.push(b, piece);
    w.push(a, piece);
    w.put(nearer);
    w.push(a, piece);
    w.push(a, piece);
    w.put(wide ? Op::f64x2_ne : Op::f32x4_ne);
    w.put(Op::v128_or);
  });
}

// a if it is NaN or beyond b, else b.
Code extreme(Writer& w, ScalarOp beyond, const Code& a, const Code& b) {
  const std::array both{a, b};
  if (is_floating(a.type) && width(both) > 1) return extreme_of_lanes(w, beyond, a, b);
  const Code further = compare(w, beyond, a, b);
  if (!is_floating(a.type)) return select_code(w, further, a, b);
  const std::array either{compare(w, ScalarOp::ne, a, a), further};
  return select_code(w, plainly(w, {Op::i32_or, Op::end}, DType::boolean, either), a, b);
}

Code copysign_of_lanes(Writer& w, std::span<const Code> x) {
  const bool wide = x[0].type == DType::f64;
  const std::uint64_t sign = wide ? 0x8000000000000000 : 0x8000000080000000;
  return w.vectors(x[0].type, width(x), [&](std::size_t piece) {
    w.push(x[1], piece);
    w.push(x[0], piece);
    w.v128(sign, sign);
    w.put(Op::v128_bitselect);
  });
}

// a op b of scalars with b != 0; division by -1 wraps around.
Code divide(Writer& w, ScalarOp op, const Code& a, const Code& b) {
  const bool wide = a.type == DType::i64, rest = op == ScalarOp::rest;
  const Code minus_one = Writer::integer(a.type, -1), one = Writer::integer(a.type, 1);
  const Code negates = compare(w, ScalarOp::eq, b, minus_one);
  w.push(a);
  w.push(select_code(w, negates, one, b));
  w.put(rest ? (wide ? Op::i64_rem_s : Op::i32_rem_s) : (wide ? Op::i64_div_s : Op::i32_div_s));
  const Code quotient = w.number(a.type);
  const std::array from_zero{Writer::integer(a.type, 0), a};
  const Pair subtraction{wide ? Op::i64_sub : Op::i32_sub, Op::end};
  const Code negated = rest ? from_zero[0] : plainly(w, subtraction, a.type, from_zero);
  return select_code(w, negates, negated, quotient);
}

// A shift by a known amount below the width, or lane by lane by any amount.
Code shift(Writer& w, ScalarOp op, const Code& a, const Code& b) {
  const bool wide = a.type == DType::i64, right = op == ScalarOp::shift_right;
  const std::int64_t bits = wide ? 64 : 32;
  if (b.known && b.known->integer >= 0 && b.known->integer < bits) {
    if (!a.is_vector()) {
      w.push(a);
      w.push(b);
      w.put(right ? (wide ? Op::i64_shr_s : Op::i32_shr_s) : (wide ? Op::i64_shl : Op::i32_shl));
      return w.number(a.type);
    }
    return w.vectors(a.type, a.lanes, [&](std::size_t piece) {
      w.push(a, piece);
      w.i32(b.known->integer);
      w.put(right ? (wide ? Op::i64x2_shr_s : Op::i32x4_shr_s)
                  : (wide ? Op::i64x2_shl : Op::i32x4_shl));
    });
  }
  const std::array operands{a, b};
  return lane_by_lane(w, a.type, operands, [&](std::span<const Code> x) {
    const Code last = Writer::integer(a.type, bits - 1), zero = Writer::integer(a.type, 0);
    w.push(compare(w, ScalarOp::ge, x[1], zero));
    w.push(compare(w, ScalarOp::le, x[1], last));
    w.put(Op::i32_and);
    const Code inside = w.number(DType::boolean);
    w.push(x[0]);
    w.push(select_code(w, inside, x[1], last));
    w.put(right ? (wide ? Op::i64_shr_s : Op::i32_shr_s) : (wide ? Op::i64_shl : Op::i32_shl));
    const Code shifted = w.number(a.type);
    return right ? shifted : select_code(w, inside, shifted, zero);
  });
}

Code bit_not(Writer& w, const Code& x) {
  if (x.is_vector())
    return w.vectors(x.type, x.lanes, [&](std::size_t piece) {
      w.push(x, piece);
      w.put(Op::v128_not);
    });
  const std::array flipped{x, Writer::integer(x.type, x.type == DType::boolean ? 1 : -1)};
  return plainly(w, {x.type == DType::i64 ? Op::i64_xor : Op::i32_xor, Op::end}, x.type, flipped);
}

Code of_integers(Writer& w, ScalarOp op, std::span<const Code> x) {
  const DType type = x[0].type;
  const Code zero = Writer::integer(type, 0);
  const Pair subtraction{type == DType::i64 ? Op::i64_sub : Op::i32_sub, Op::end};
  switch (op) {
    case ScalarOp::max:
      return extreme(w, ScalarOp::gt, x[0], x[1]);
    case ScalarOp::min:
      return extreme(w, ScalarOp::lt, x[0], x[1]);
    case ScalarOp::neg:
      return plainly(w, subtraction, type, std::array{zero, x[0]});
    case ScalarOp::abs:
      return select_code(w, compare(w, ScalarOp::lt, x[0], zero),
                         plainly(w, subtraction, type, std::array{zero, x[0]}), x[0]);
    case ScalarOp::bit_not:
      return bit_not(w, x[0]);
    case ScalarOp::shift_left:
    case ScalarOp::shift_right:
      return shift(w, op, x[0], x[1]);
    case ScalarOp::quotient:
    case ScalarOp::rest:
      return lane_by_lane(w, type, x, [&](std::span<const Code> numbers) {
        return divide(w, op, numbers[0], numbers[1]);
      });
    default:
      break;
  }
  RECUT_CHECK(false, "every operator of integers has instructions");
}

// All bits are 0.
bool is_zero(const Code& x) {
  if (!x.known) return false;
  if (!is_floating(x.type)) return x.known->integer == 0;
  return x.known->real == 0 && !std::signbit(x.known->real);
}

}  // namespace

Code select_code(Writer& w, const Code& condition, const Code& b, const Code& c) {
  const std::array all{condition, b, c};
  if (width(all) == 1) {
    w.push(b);
    w.push(c);
    w.push(condition);
    w.put(Op::select);
    return w.number(b.type);
  }
  const bool wide = pieces_of(b.type, 8) != pieces_of(DType::boolean, 8);
  const bool masks = is_zero(c);
  return w.vectors(b.type, width(all), [&](std::size_t piece) {
    w.push(b, piece);
    if (!masks) w.push(c, piece);
    w.push(condition, wide ? piece / 2 : piece);
    if (wide) w.put(piece % 2 == 0 ? Op::i64x2_extend_low_i32x4_s : Op::i64x2_extend_high_i32x4_s);
    w.put(masks ? Op::v128_and : Op::v128_bitselect);
  });
}

Code arithmetic_code(Writer& w, ScalarOp op, DType result, std::span<const Code> x) {
  const DType type = x.back().type;
  switch (loop::scalar_operator(op).signature) {
    case loop::Signature::comparison:
      return compare(w, op, x[0], x[1]);
    case loop::Signature::choice:
      return select_code(w, x[0], x[1], x[2]);
    case loop::Signature::conversion:
      return convert_code(w, x[0], result);
    case loop::Signature::reinterpretation:
      return reinterpret_code(w, x[0], result);
    default:
      break;
  }
  if (const Plain* plain = find(kPlain, op)) {
    const Pair pair = of_type(*plain, type);
    if ((width(x) == 1 ? pair.one : pair.lanes) != Op::end) return plainly(w, pair, result, x);
  }
  if (!is_floating(type)) return of_integers(w, op, x);
  if (op == ScalarOp::max) return extreme(w, ScalarOp::gt, x[0], x[1]);
  if (op == ScalarOp::min) return extreme(w, ScalarOp::lt, x[0], x[1]);
  RECUT_CHECK(op == ScalarOp::copysign, "every operator of reals has code");
  return copysign_of_lanes(w, x);
}

}  // namespace recut::wasm
