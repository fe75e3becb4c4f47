// Conversions between memory and values, by integer arithmetic on the bits, since WebAssembly has
// no f16 or bf16. They are written once over helpers that take a number or lanes alike, so that
// both have the same bits. Rounding from f64 goes through f32 by round-to-odd, which avoids double
// rounding.
#include "engine/codegen/wasm/storage_code.h"

#include <array>

#include "engine/codegen/wasm/arithmetic_code.h"
#include "engine/codegen/wasm/function_builder.h"

namespace recut::wasm {
namespace {

using loop::ScalarOp;

// Arithmetic of numbers or lanes.
struct ArithmeticOps {
  FunctionBuilder& fn;
  WasmValue op(ScalarOp op, const WasmValue& a, const WasmValue& b) const {
    const bool compares = loop::scalar_operator(op).signature == loop::Signature::comparison;
    return arithmetic_code(fn, op, compares ? DType::boolean : a.type, std::array{a, b});
  }
  WasmValue op(ScalarOp op, const WasmValue& a, std::int64_t b) const {
    return this->op(op, a, FunctionBuilder::integer(a.type, b));
  }
  WasmValue as(const WasmValue& x, DType type) const { return reinterpret_code(fn, x, type); }
  WasmValue size(const WasmValue& x) const {
    return arithmetic_code(fn, ScalarOp::abs, x.type, std::array{x});
  }
  WasmValue select(const WasmValue& condition, const WasmValue& a, const WasmValue& b) const {
    return select_code(fn, condition, a, b);
  }
};

// An f32 near x that rounds to fewer digits as x itself does: towards zero, with the last bit set
// where something was lost (round to odd; Boldo and Melquiond, Emulation of FMA and Correctly
// Rounded Sums, 2008).
WasmValue round_to_odd(FunctionBuilder& fn, const WasmValue& x) {
  const ArithmeticOps a{fn};
  const WasmValue near = convert_code(fn, x, DType::f32), back = convert_code(fn, near, DType::f64);
  const WasmValue lost = a.op(ScalarOp::ne, back, x);
  const WasmValue further = a.op(ScalarOp::gt, a.size(back), a.size(x));
  const WasmValue pattern = a.as(near, DType::i32);
  const WasmValue lower = a.select(further, a.op(ScalarOp::sub, pattern, 1), pattern);
  return a.as(a.select(lost, a.op(ScalarOp::bit_or, lower, 1), pattern), DType::f32);
}

// An f16's bits as an f32: the exponent moves by a multiplication, which gets the smallest right,
// too.
WasmValue f32_of_f16(FunctionBuilder& fn, const WasmValue& bits) {
  const ArithmeticOps a{fn};
  const WasmValue moved = a.op(ScalarOp::shift_left, a.op(ScalarOp::bit_and, bits, 0x7fff), 13);
  const WasmValue scaled =
      a.op(ScalarOp::mul, a.as(moved, DType::f32), FunctionBuilder::real(DType::f32, 0x1p112));
  const WasmValue special = a.op(ScalarOp::eq, a.op(ScalarOp::bit_and, bits, 0x7c00), 0x7c00);
  const WasmValue size =
      a.select(special, a.op(ScalarOp::bit_or, moved, 0x7f800000), a.as(scaled, DType::i32));
  const WasmValue sign = a.op(ScalarOp::shift_left, a.op(ScalarOp::bit_and, bits, 0x8000), 16);
  return a.as(a.op(ScalarOp::bit_or, size, sign), DType::f32);
}

// An f32's bits as an f16, rounded to nearest even. An f16 subnormal is rounded by adding 0.5,
// whose last bit is an f16's last.
WasmValue f16_of_f32(FunctionBuilder& fn, const WasmValue& x) {
  const ArithmeticOps a{fn};
  const WasmValue pattern = a.as(x, DType::i32);
  const WasmValue size = a.op(ScalarOp::bit_and, pattern, 0x7fffffff);
  const WasmValue odd = a.op(ScalarOp::bit_and, a.op(ScalarOp::shift_right, size, 13), 1);
  const WasmValue carried = a.op(ScalarOp::add, a.op(ScalarOp::sub, size, 0x37fff001), odd);
  const WasmValue normal = a.op(ScalarOp::shift_right, carried, 13);
  const WasmValue half =
      a.op(ScalarOp::add, a.as(size, DType::f32), FunctionBuilder::real(DType::f32, 0.5));
  const WasmValue small = a.op(ScalarOp::sub, a.as(half, DType::i32), 0x3f000000);
  const WasmValue nan = a.op(ScalarOp::gt, size, 0x7f800000);
  const WasmValue large = a.select(nan, i32(0x7e00), i32(0x7c00));
  const WasmValue finite = a.select(a.op(ScalarOp::lt, size, 0x38800000), small, normal);
  const WasmValue rounded = a.select(a.op(ScalarOp::ge, size, 0x47800000), large, finite);
  const WasmValue sign = a.op(ScalarOp::bit_and, a.op(ScalarOp::shift_right, pattern, 16), 0x8000);
  return a.op(ScalarOp::bit_or, rounded, sign);
}

// The upper half of an f32's bits, rounded to nearest even; NaN stays one.
WasmValue bf16_of_f32(FunctionBuilder& fn, const WasmValue& x) {
  const ArithmeticOps a{fn};
  const WasmValue pattern = a.as(x, DType::i32);
  const WasmValue last = a.op(ScalarOp::bit_and, a.op(ScalarOp::shift_right, pattern, 16), 1);
  const WasmValue carried = a.op(ScalarOp::add, pattern, a.op(ScalarOp::add, last, 0x7fff));
  const WasmValue nan = a.op(ScalarOp::bit_or, pattern, 0x400000);
  const WasmValue whole = a.select(a.op(ScalarOp::ne, x, x), nan, carried);
  return a.op(ScalarOp::bit_and, a.op(ScalarOp::shift_right, whole, 16), 0xffff);
}

bool is_stored_unconverted(DType dtype) { return item_bytes(dtype) >= 4; }

// The bits of one or two bytes that stand in memory, as an i32 without a sign.
WasmValue memory_bits(FunctionBuilder& fn, DType dtype, const WasmValue& value) {
  const ArithmeticOps a{fn};
  switch (dtype) {
    case DType::f16:
      return f16_of_f32(fn, value.type == DType::f64 ? round_to_odd(fn, value) : value);
    case DType::bf16:
      return bf16_of_f32(fn, value.type == DType::f64 ? round_to_odd(fn, value) : value);
    case DType::boolean:
      return convert_code(fn, value, DType::i32);
    default:
      return a.op(ScalarOp::bit_and, value, item_bytes(dtype) == 2 ? 0xffff : 0xff);
  }
}

WasmValue value_of_bits(FunctionBuilder& fn, DType dtype, const WasmValue& bits) {
  const ArithmeticOps a{fn};
  switch (dtype) {
    case DType::f16:
      return f32_of_f16(fn, bits);
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

void memory(FunctionBuilder& fn, Op op, DType dtype, std::uint64_t offset) {
  fn.emit(Instruction{op, align_of(dtype), 0, 0, offset, 0});
}

}  // namespace

WasmValue load_number(FunctionBuilder& fn, DType dtype, const Address& at) {
  fn.get(at.base);
  memory(fn, load_op(dtype), dtype, at.offset);
  if (is_stored_unconverted(dtype)) return fn.pop_value(dtype);
  return value_of_bits(fn, dtype, fn.pop_value(DType::i32));
}

WasmValue load_splat(FunctionBuilder& fn, DType dtype, const Address& at) {
  fn.get(at.base);
  memory(fn, dtype == DType::f64 ? Op::v128_load64_splat : Op::v128_load32_splat, dtype, at.offset);
  WasmValue code{dtype, 1, {fn.pop_to_local(Type::v128)}, std::nullopt, fn.level()};
  code.splatted = true;
  return code;
}

WasmValue load_lanes(FunctionBuilder& fn, DType dtype, const Address& at, std::int64_t lanes) {
  const auto load = [&](DType type, Op op, std::uint64_t bytes) {
    return fn.vectors(type, lanes, [&](std::size_t piece) {
      fn.get(at.base);
      memory(fn, op, dtype, at.offset + bytes * piece);
      if (op != Op::v128_load32_zero) return;
      fn.emit(Op::i16x8_extend_low_i8x16_u);
      fn.emit(Op::i32x4_extend_low_i16x8_u);
    });
  };
  if (is_stored_unconverted(dtype)) return load(dtype, Op::v128_load, 16);
  return value_of_bits(fn, dtype,
                       item_bytes(dtype) == 2 ? load(DType::i32, Op::v128_load16x4_u, 8)
                                              : load(DType::i32, Op::v128_load32_zero, 4));
}

void store_number(FunctionBuilder& fn, DType dtype, const Address& at, const WasmValue& value) {
  const WasmValue stored = is_stored_unconverted(dtype) ? value : memory_bits(fn, dtype, value);
  fn.get(at.base);
  fn.push(stored);
  memory(fn, store_op(dtype), dtype, at.offset);
}

void store_lanes(FunctionBuilder& fn, DType dtype, const Address& at, const WasmValue& value,
                 std::int64_t lanes) {
  if (is_stored_unconverted(dtype)) {
    for (std::size_t piece = 0; piece < pieces_of(dtype, lanes); ++piece) {
      fn.get(at.base);
      fn.push(value, piece);
      memory(fn, Op::v128_store, dtype, at.offset + 16 * piece);
    }
    return;
  }
  const WasmValue bits = memory_bits(fn, dtype, value);
  fn.get(at.base);
  fn.push(bits, 0);
  fn.push(bits, lanes == 8 ? 1 : 0);
  fn.emit(Op::i16x8_narrow_i32x4_u);
  if (item_bytes(dtype) == 1) {
    const Local halves = fn.pop_to_local(Type::v128);
    fn.get(halves);
    fn.get(halves);
    fn.emit(Op::i8x16_narrow_i16x8_u);
  }
  const std::int64_t bytes = lanes * item_bytes(dtype);
  memory(fn,
         bytes == 16  ? Op::v128_store
         : bytes == 8 ? Op::v128_store64_lane
                      : Op::v128_store32_lane,
         dtype, at.offset);
}

WasmValue narrow_code(FunctionBuilder& fn, const WasmValue& value, DType dtype) {
  const DType inside = loop::value_type(dtype);
  if (is_stored_unconverted(dtype))
    return convert_code(fn, convert_code(fn, value, dtype), value.type);
  const WasmValue small = is_floating(dtype) ? value : convert_code(fn, value, inside);
  return convert_code(fn, value_of_bits(fn, dtype, memory_bits(fn, dtype, small)), value.type);
}

}  // namespace recut::wasm
