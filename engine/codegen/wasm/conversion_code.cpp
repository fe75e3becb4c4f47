// Conversions between value types, for scalars and vectors.
#include <array>

#include "engine/codegen/wasm/arithmetic_code.h"

namespace recut::wasm {
namespace {

Code compared(Writer& w, loop::ScalarOp op, const Code& a, const Code& b) {
  return arithmetic_code(w, op, DType::boolean, std::array{a, b});
}

// Converts by one instruction.
Code by(Writer& w, const Code& x, Op op, DType to) {
  w.push(x);
  w.put(op);
  return w.number(to);
}

// Towards zero. NaN and numbers that don't fit give the most negative i64.
Code truncated(Writer& w, const Code& x) {
  const Code wide = x.type == DType::f32 ? by(w, x, Op::f64_promote_f32, DType::f64) : x;
  w.push(compared(w, loop::ScalarOp::gt, wide, Writer::real(DType::f64, -0x1p63)));
  w.push(compared(w, loop::ScalarOp::lt, wide, Writer::real(DType::f64, 0x1p63)));
  w.put(Op::i32_and);
  const Code fits = w.number(DType::boolean);
  const Code whole = by(w, wide, Op::i64_trunc_sat_f64_s, DType::i64);
  return select_code(w, fits, whole, Writer::integer(DType::i64, INT64_MIN));
}

Code number_as(Writer& w, const Code& x, DType to) {
  const bool from_i64 = x.type == DType::i64;
  switch (to) {
    case DType::f32:
      return by(w, x,
                x.type == DType::f64 ? Op::f32_demote_f64
                : from_i64           ? Op::f32_convert_i64_s
                                     : Op::f32_convert_i32_s,
                to);
    case DType::f64:
      return by(w, x,
                x.type == DType::f32 ? Op::f64_promote_f32
                : from_i64           ? Op::f64_convert_i64_s
                                     : Op::f64_convert_i32_s,
                to);
    case DType::i64:
      return is_floating(x.type) ? truncated(w, x) : by(w, x, Op::i64_extend_i32_s, to);
    default:
      break;
  }
  if (x.type == DType::boolean) {
    Code same = x;
    same.type = to;
    return same;
  }
  return by(w, is_floating(x.type) ? truncated(w, x) : x, Op::i32_wrap_i64, to);
}

// Pushes a half of a vector's lanes as the lower half of a vector, for widening instructions.
void push_half(Writer& w, const Code& x, std::size_t half) {
  w.push(x, half / 2);
  if (half % 2 == 0) return;
  w.push(x, half / 2);
  w.put(Op::i8x16_shuffle, 0x0f0e0d0c0b0a0908, 0x0f0e0d0c0b0a0908);
}

Code bits_where(Writer& w, const Code& masks, DType to, std::uint64_t bits) {
  return w.vectors(to, masks.lanes, [&](std::size_t piece) {
    w.push(masks, piece);
    w.v128(bits | bits << 32, bits | bits << 32);
    w.put(Op::v128_and);
  });
}

// Vector by vector, by widening, narrowing or in place; nothing if there is no such instruction.
std::optional<Code> lanes_as(Writer& w, const Code& x, DType to) {
  const DType from = x.type;
  const auto widened = [&](Op op) {
    return w.vectors(to, x.lanes, [&](std::size_t piece) {
      push_half(w, x, piece);
      w.put(op);
    });
  };
  const auto joined = [&](std::optional<Op> op, std::uint64_t low, std::uint64_t high) {
    return w.vectors(to, x.lanes, [&](std::size_t piece) {
      for (const std::size_t part : {2 * piece, 2 * piece + 1}) {
        w.push(x, part);
        if (op) w.put(*op);
      }
      w.put(Op::i8x16_shuffle, low, high);
    });
  };
  if (from == DType::boolean) {
    if (to == DType::f32) return bits_where(w, x, to, 0x3f800000);
    const Code whole = bits_where(w, x, DType::i32, 1);
    return to == DType::i32 ? whole : lanes_as(w, whole, to);
  }
  if (from == DType::f32 && to == DType::f64) return widened(Op::f64x2_promote_low_f32x4);
  if (from == DType::i32 && to == DType::f64) return widened(Op::f64x2_convert_low_i32x4_s);
  if (from == DType::i32 && to == DType::i64) return widened(Op::i64x2_extend_low_i32x4_s);
  if (from == DType::f64 && to == DType::f32)
    return joined(Op::f32x4_demote_f64x2_zero, 0x0706050403020100, 0x1716151413121110);
  if (from == DType::i64 && to == DType::i32)
    return joined(std::nullopt, 0x0b0a090803020100, 0x1b1a191813121110);
  if (from == DType::i32 && to == DType::f32)
    return w.vectors(to, x.lanes, [&](std::size_t piece) {
      w.push(x, piece);
      w.put(Op::f32x4_convert_i32x4_s);
    });
  return std::nullopt;
}

}  // namespace

Code convert_code(Writer& w, const Code& x, DType to) {
  if (x.type == to) return x;
  if (to == DType::boolean)
    return compared(w, loop::ScalarOp::ne, x, Writer::constant(x.type, {0, 0}));
  if (!x.is_vector()) return number_as(w, x, to);
  if (auto lanes = lanes_as(w, x, to)) return *lanes;
  return w.each_lane(to, x.lanes,
                     [&](std::int64_t lane) { w.push(number_as(w, w.lane(x, lane), to)); });
}

Code reinterpret_code(Writer& w, const Code& x, DType to) {
  if (x.is_vector()) {
    Code same = x;
    same.type = to;
    return same;
  }
  w.push(x);
  w.put(to == DType::f32   ? Op::f32_reinterpret_i32
        : to == DType::f64 ? Op::f64_reinterpret_i64
        : to == DType::i32 ? Op::i32_reinterpret_f32
                           : Op::i64_reinterpret_f64);
  return w.number(to);
}

}  // namespace recut::wasm
