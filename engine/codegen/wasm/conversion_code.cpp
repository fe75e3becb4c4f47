// Conversions between value types, for scalars and vectors.
#include <array>

#include "engine/codegen/wasm/arithmetic_code.h"

namespace recut::wasm {
namespace {

WasmValue compared(FunctionBuilder& fn, loop::ScalarOp op, const WasmValue& a, const WasmValue& b) {
  return arithmetic_code(fn, op, DType::boolean, std::array{a, b});
}

// Converts by one instruction.
WasmValue convert_by(FunctionBuilder& fn, const WasmValue& x, Op op, DType to) {
  fn.push(x);
  fn.emit(op);
  return fn.pop_value(to);
}

// Towards zero. NaN and numbers that don't fit give the most negative i64.
WasmValue truncated(FunctionBuilder& fn, const WasmValue& x) {
  const WasmValue wide =
      x.type == DType::f32 ? convert_by(fn, x, Op::f64_promote_f32, DType::f64) : x;
  fn.push(compared(fn, loop::ScalarOp::gt, wide, FunctionBuilder::real(DType::f64, -0x1p63)));
  fn.push(compared(fn, loop::ScalarOp::lt, wide, FunctionBuilder::real(DType::f64, 0x1p63)));
  fn.emit(Op::i32_and);
  const WasmValue fits = fn.pop_value(DType::boolean);
  const WasmValue whole = convert_by(fn, wide, Op::i64_trunc_sat_f64_s, DType::i64);
  return select_code(fn, fits, whole, FunctionBuilder::integer(DType::i64, INT64_MIN));
}

WasmValue number_as(FunctionBuilder& fn, const WasmValue& x, DType to) {
  const bool from_i64 = x.type == DType::i64;
  switch (to) {
    case DType::f32:
      return convert_by(fn, x,
                        x.type == DType::f64 ? Op::f32_demote_f64
                        : from_i64           ? Op::f32_convert_i64_s
                                             : Op::f32_convert_i32_s,
                        to);
    case DType::f64:
      return convert_by(fn, x,
                        x.type == DType::f32 ? Op::f64_promote_f32
                        : from_i64           ? Op::f64_convert_i64_s
                                             : Op::f64_convert_i32_s,
                        to);
    case DType::i64:
      return is_floating(x.type) ? truncated(fn, x) : convert_by(fn, x, Op::i64_extend_i32_s, to);
    default:
      break;
  }
  if (x.type == DType::boolean) {
    WasmValue same = x;
    same.type = to;
    return same;
  }
  return convert_by(fn, is_floating(x.type) ? truncated(fn, x) : x, Op::i32_wrap_i64, to);
}

// Pushes a half of a vector's lanes as the lower half of a vector, for widening instructions.
void push_half(FunctionBuilder& fn, const WasmValue& x, std::size_t half) {
  fn.push(x, half / 2);
  if (half % 2 == 0) return;
  fn.push(x, half / 2);
  fn.emit(Op::i8x16_shuffle, 0x0f0e0d0c0b0a0908, 0x0f0e0d0c0b0a0908);
}

WasmValue bits_where(FunctionBuilder& fn, const WasmValue& masks, DType to, std::uint64_t bits) {
  return fn.vectors(to, masks.lanes, [&](std::size_t piece) {
    fn.push(masks, piece);
    fn.v128(bits | bits << 32, bits | bits << 32);
    fn.emit(Op::v128_and);
  });
}

// Vector by vector, by widening, narrowing or in place; nothing if there is no such instruction.
std::optional<WasmValue> lanes_as(FunctionBuilder& fn, const WasmValue& x, DType to) {
  const DType from = x.type;
  const auto widened = [&](Op op) {
    return fn.vectors(to, x.lanes, [&](std::size_t piece) {
      push_half(fn, x, piece);
      fn.emit(op);
    });
  };
  const auto joined = [&](std::optional<Op> op, std::uint64_t low, std::uint64_t high) {
    return fn.vectors(to, x.lanes, [&](std::size_t piece) {
      for (const std::size_t part : {2 * piece, 2 * piece + 1}) {
        fn.push(x, part);
        if (op) fn.emit(*op);
      }
      fn.emit(Op::i8x16_shuffle, low, high);
    });
  };
  if (from == DType::boolean) {
    if (to == DType::f32) return bits_where(fn, x, to, 0x3f800000);
    const WasmValue whole = bits_where(fn, x, DType::i32, 1);
    return to == DType::i32 ? whole : lanes_as(fn, whole, to);
  }
  if (from == DType::f32 && to == DType::f64) return widened(Op::f64x2_promote_low_f32x4);
  if (from == DType::i32 && to == DType::f64) return widened(Op::f64x2_convert_low_i32x4_s);
  if (from == DType::i32 && to == DType::i64) return widened(Op::i64x2_extend_low_i32x4_s);
  if (from == DType::f64 && to == DType::f32)
    return joined(Op::f32x4_demote_f64x2_zero, 0x0706050403020100, 0x1716151413121110);
  if (from == DType::i64 && to == DType::i32)
    return joined(std::nullopt, 0x0b0a090803020100, 0x1b1a191813121110);
  if (from == DType::i32 && to == DType::f32)
    return fn.vectors(to, x.lanes, [&](std::size_t piece) {
      fn.push(x, piece);
      fn.emit(Op::f32x4_convert_i32x4_s);
    });
  return std::nullopt;
}

}  // namespace

WasmValue convert_code(FunctionBuilder& fn, const WasmValue& x, DType to) {
  if (x.type == to) return x;
  if (to == DType::boolean)
    return compared(fn, loop::ScalarOp::ne, x, FunctionBuilder::constant(x.type, {0, 0}));
  if (!x.is_vector()) return number_as(fn, x, to);
  if (auto lanes = lanes_as(fn, x, to)) return *lanes;
  return fn.each_lane(to, x.lanes,
                      [&](std::int64_t lane) { fn.push(number_as(fn, fn.lane(x, lane), to)); });
}

WasmValue reinterpret_code(FunctionBuilder& fn, const WasmValue& x, DType to) {
  if (x.is_vector()) {
    WasmValue same = x;
    same.type = to;
    return same;
  }
  fn.push(x);
  fn.emit(to == DType::f32   ? Op::f32_reinterpret_i32
          : to == DType::f64 ? Op::f64_reinterpret_i64
          : to == DType::i32 ? Op::i32_reinterpret_f32
                             : Op::i64_reinterpret_f64);
  return fn.pop_value(to);
}

}  // namespace recut::wasm
