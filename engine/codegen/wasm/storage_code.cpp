// Conversions between memory and values, by integer arithmetic on the bits, since WebAssembly has
// no f16 or bf16. They are written once over helpers that take a number or lanes alike, so that
// both have the same bits. Rounding from f64 goes through f32 by round-to-odd, which avoids double
// rounding.
#include "engine/codegen/wasm/storage_code.h"

#include <array>

#include "engine/codegen/wasm/arithmetic_code.h"
#include "engine/codegen/wasm/writer.h"

namespace recut::wasm {
namespace {

using loop::ScalarOp;

// Arithmetic of numbers or lanes.
struct Arithmetic {
  Writer& w;
  Code op(ScalarOp op, const Code& a, const Code& b) const {
    const bool compares = loop::scalar_operator(op).signature == loop::Signature::comparison;
    return arithmetic_code(w, op, compares ? DType::boolean : a.type, std::array{a, b});
  }
  Code op(ScalarOp op, const Code& a, std::int64_t b) const {
    return this->op(op, a, Writer::integer(a.type, b));
  }
  Code as(const Code& x, DType type) const { return reinterpret_code(w, x, type); }
  Code size(const Code& x) const {
    return arithmetic_code(w, ScalarOp::abs, x.type, std::array{x});
  }
  Code select(const Code& condition, const Code& a, const Code& b) const {
    return select_code(w, condition, a, b);
  }
};

// An f32 near x that rounds to fewer digits as x itself does: towards zero, with the last bit set
// where something was lost (round to odd; Boldo and Melquiond, Emulation of FMA and Correctly
// Rounded Sums, 2008).
Code to_odd(Writer& w, const Code& x) {
  const Arithmetic a{w};
  const Code near = convert_code(w, x, DType::f32), back = convert_code(w, near, DType::f64);
  const Code lost = a.op(ScalarOp::ne, back, x);
  const Code further = a.op(ScalarOp::gt, a.size(back), a.size(x));
  const Code pattern = a.as(near, DType::i32);
  const Code lower = a.select(further, a.op(ScalarOp::sub, pattern, 1), pattern);
  return a.as(a.select(lost, a.op(ScalarOp::bit_or, lower, 1), pattern), DType::f32);
}

// An f16's bits as an f32: the exponent moves by a multiplication, which gets the smallest right,
// too.
Code f32_of_f16(Writer& w, const Code& bits) {
  const Arithmetic a{w};
  const Code moved = a.op(ScalarOp::shift_left, a.op(ScalarOp::bit_and, bits, 0x7fff), 13);
  const Code scaled =
      a.op(ScalarOp::mul, a.as(moved, DType::f32), Writer::real(DType::f32, 0x1p112));
  const Code special = a.op(ScalarOp::eq, a.op(ScalarOp::bit_and, bits, 0x7c00), 0x7c00);
  const Code size =
      a.select(special, a.op(ScalarOp::bit_or, moved, 0x7f800000), a.as(scaled, DType::i32));
  const Code sign = a.op(ScalarOp::shift_left, a.op(ScalarOp::bit_and, bits, 0x8000), 16);
  return a.as(a.op(ScalarOp::bit_or, size, sign), DType::f32);
}

// An f32's bits as an f16, rounded to nearest even. What is below the smallest normal one is
// rounded by adding a half, whose last bit is an f16's last.
Code f16_of_f32(Writer& w, const Code& x) {
  const Arithmetic a{w};
  const Code pattern = a.as(x, DType::i32);
  const Code size = a.op(ScalarOp::bit_and, pattern, 0x7fffffff);
  const Code odd = a.op(ScalarOp::bit_and, a.op(ScalarOp::shift_right, size, 13), 1);
  const Code carried = a.op(ScalarOp::add, a.op(ScalarOp::sub, size, 0x37fff001), odd);
  const Code normal = a.op(ScalarOp::shift_right, carried, 13);
  const Code half = a.op(ScalarOp::add, a.as(size, DType::f32), Writer::real(DType::f32, 0.5));
  const Code small = a.op(ScalarOp::sub, a.as(half, DType::i32), 0x3f000000);
  const Code nan = a.op(ScalarOp::gt, size, 0x7f800000);
  const Code large = a.select(nan, i32(0x7e00), i32(0x7c00));
  const Code finite = a.select(a.op(ScalarOp::lt, size, 0x38800000), small, normal);
  const Code rounded = a.select(a.op(ScalarOp::ge, size, 0x47800000), large, finite);
  const Code sign = a.op(ScalarOp::bit_and, a.op(ScalarOp::shift_right, pattern, 16), 0x8000);
  return a.op(ScalarOp::bit_or, rounded, sign);
}

// The upper half of an f32's bits, rounded to nearest even; NaN stays one.
Code bf16_of_f32(Writer& w, const Code& x) {
  const Arithmetic a{w};
  const Code pattern = a.as(x, DType::i32);
  const Code last = a.op(ScalarOp::bit_and, a.op(ScalarOp::shift_right, pattern, 16), 1);
  const Code carried = a.op(ScalarOp::add, pattern, a.op(ScalarOp::add, last, 0x7fff));
  const Code nan = a.op(ScalarOp::bit_or, pattern, 0x400000);
  const Code whole = a.select(a.op(ScalarOp::ne, x, x), nan, carried);
  return a.op(ScalarOp::bit_and, a.op(ScalarOp::shift_right, whole, 16), 0xffff);
}

bool stands_as_it_is(DType dtype) { return item_bytes(dtype) >= 4; }

// The bits of one or two bytes that stand in memory, as an i32 without a sign.
Code memory_bits(Writer& w, DType dtype, const Code& value) {
  const Arithmetic a{w};
  switch (dtype) {
    case DType::f16:
      return f16_of_f32(w, value.type == DType::f64 ? to_odd(w, value) : value);
    case DType::bf16:
      return bf16_of_f32(w, value.type == DType::f64 ? to_odd(w, value) : value);
    case DType::boolean:
      return convert_code(w, value, DType::i32);
    default:
      return a.op(ScalarOp::bit_and, value, item_bytes(dtype) == 2 ? 0xffff : 0xff);
  }
}

Code value_of_bits(Writer& w, DType dtype, const Code& bits) {
  const Arithmetic a{w};
  switch (dtype) {
    case DType::f16:
      return f32_of_f16(w, bits);
    case DType::bf16:
      return a.as(a.op(ScalarOp::shift_left, bits, 16), DType::f32);
    case DType::boolean:
      return a.op(ScalarOp::ne, bits, 0);
    case DType::u8:
      return bits;
    default: {
      const std::int64_t away = 32 - 8 * item_bytes(dtype);
      return a.op(ScalarOp::shift_right, a.op(ScalarOp::shift_left, bits, away), away);
    }
  }
}

std::uint8_t align_of(DType dtype) {
  const std::int64_t bytes = item_bytes(dtype);
  return bytes == 8 ? 3 : bytes == 4 ? 2 : bytes == 2 ? 1 : 0;
}

Op load_op(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return Op::f32_load;
    case DType::f64:
      return Op::f64_load;
    case DType::i64:
      return Op::i64_load;
    case DType::i32:
      return Op::i32_load;
    default:
      return item_bytes(dtype) == 2 ? Op::i32_load16_u : Op::i32_load8_u;
  }
}

Op store_op(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return Op::f32_store;
    case DType::f64:
      return Op::f64_store;
    case DType::i64:
      return Op::i64_store;
    case DType::i32:
      return Op::i32_store;
    default:
      return item_bytes(dtype) == 2 ? Op::i32_store16 : Op::i32_store8;
  }
}

void memory(Writer& w, Op op, DType dtype, std::uint64_t offset) {
  w.put(Instruction{op, align_of(dtype), 0, 0, offset, 0});
}

}  // namespace

Code load_number(Writer& w, DType dtype, const Address& at) {
  w.get(at.base);
  memory(w, load_op(dtype), dtype, at.offset);
  if (stands_as_it_is(dtype)) return w.number(dtype);
  return value_of_bits(w, dtype, w.number(DType::i32));
}

Code load_spread(Writer& w, DType dtype, const Address& at) {
  w.get(at.base);
  memory(w, dtype == DType::f64 ? Op::v128_load64_splat : Op::v128_load32_splat, dtype, at.offset);
  Code code{dtype, 1, {w.keep(Type::v128)}, std::nullopt, w.level()};
  code.spread = true;
  return code;
}

Code load_lanes(Writer& w, DType dtype, const Address& at, std::int64_t lanes) {
  const auto load = [&](DType type, Op op, std::uint64_t bytes) {
    return w.vectors(type, lanes, [&](std::size_t piece) {
      w.get(at.base);
      memory(w, op, dtype, at.offset + bytes * piece);
      if (op != Op::v128_load32_zero) return;
      w.put(Op::i16x8_extend_low_i8x16_u);
      w.put(Op::i32x4_extend_low_i16x8_u);
    });
  };
  if (stands_as_it_is(dtype)) return load(dtype, Op::v128_load, 16);
  return value_of_bits(w, dtype,
                       item_bytes(dtype) == 2 ? load(DType::i32, Op::v128_load16x4_u, 8)
                                              : load(DType::i32, Op::v128_load32_zero, 4));
}

void store_number(Writer& w, DType dtype, const Address& at, const Code& value) {
  const Code stored = stands_as_it_is(dtype) ? value : memory_bits(w, dtype, value);
  w.get(at.base);
  w.push(stored);
  memory(w, store_op(dtype), dtype, at.offset);
}

void store_lanes(Writer& w, DType dtype, const Address& at, const Code& value, std::int64_t lanes) {
  if (stands_as_it_is(dtype)) {
    for (std::size_t piece = 0; piece < pieces_of(dtype, lanes); ++piece) {
      w.get(at.base);
      w.push(value, piece);
      memory(w, Op::v128_store, dtype, at.offset + 16 * piece);
    }
    return;
  }
  const Code bits = memory_bits(w, dtype, value);
  w.get(at.base);
  w.push(bits, 0);
  w.push(bits, lanes == 8 ? 1 : 0);
  w.put(Op::i16x8_narrow_i32x4_u);
  if (item_bytes(dtype) == 1) {
    const Local halves = w.keep(Type::v128);
    w.get(halves);
    w.get(halves);
    w.put(Op::i8x16_narrow_i16x8_u);
  }
  const std::int64_t bytes = lanes * item_bytes(dtype);
  memory(w,
         bytes == 16  ? Op::v128_store
         : bytes == 8 ? Op::v128_store64_lane
                      : Op::v128_store32_lane,
         dtype, at.offset);
}

Code narrow_code(Writer& w, const Code& value, DType dtype) {
  const DType inside = loop::value_type(dtype);
  if (stands_as_it_is(dtype)) return convert_code(w, convert_code(w, value, dtype), value.type);
  const Code small = is_floating(dtype) ? value : convert_code(w, value, inside);
  return convert_code(w, value_of_bits(w, dtype, memory_bits(w, dtype, small)), value.type);
}

}  // namespace recut::wasm
