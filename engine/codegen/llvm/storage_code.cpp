#include "engine/codegen/llvm/storage_code.h"

#include <fmt/format.h>

#include "engine/support/check.h"

namespace recut::llvm_ir {
namespace {

// Shorthands for i32 instructions with a constant.
struct I32Ops {
  IrBuilder& ir;
  std::int64_t lanes;
  IrValue i32(std::int64_t number) const { return IrBuilder::integer(DType::i32, number, lanes); }
  IrValue op(std::string_view instruction, const IrValue& a, std::int64_t b) const {
    return ir.apply(instruction, DType::i32, a, i32(b));
  }
};

// An f32 near x that rounds to fewer digits as x itself does: towards zero, with the last bit set
// where something was lost (round to odd; Boldo and Melquiond, Emulation of FMA and Correctly
// Rounded Sums, 2008).
IrValue round_to_odd(IrBuilder& ir, const IrValue& x) {
  const I32Ops bits{ir, x.lanes};
  const IrValue near = ir.cast("fptrunc", x, DType::f32);
  const IrValue back = ir.cast("fpext", near, DType::f64);
  const IrValue lost = ir.apply("fcmp one", DType::boolean, back, x);
  const IrValue further = ir.apply("fcmp ogt", DType::boolean, ir.intrinsic("llvm.fabs", {back}),
                                   ir.intrinsic("llvm.fabs", {x}));
  const IrValue pattern = ir.cast("bitcast", near, DType::i32);
  const IrValue lower = ir.select(further, bits.op("sub", pattern, 1), pattern);
  const IrValue odd = ir.select(lost, bits.op("or", lower, 1), pattern);
  return ir.cast("bitcast", odd, DType::f32);
}

// The upper half of an f32's bits, rounded to nearest even; NaN stays one.
IrValue bf16_bits(IrBuilder& ir, const IrValue& x) {
  const I32Ops bits{ir, x.lanes};
  const IrValue pattern = ir.cast("bitcast", x, DType::i32);
  const IrValue last = bits.op("and", bits.op("lshr", pattern, 16), 1);
  const IrValue carried = ir.apply("add", DType::i32, pattern, bits.op("add", last, 0x7fff));
  const IrValue nan = bits.op("or", pattern, 0x400000);
  const IrValue whole = ir.select(ir.apply("fcmp uno", DType::boolean, x, x), nan, carried);
  return bits.op("lshr", whole, 16);
}

IrValue f32_of_bf16_bits(IrBuilder& ir, const IrValue& bits) {
  return ir.cast("bitcast", I32Ops{ir, bits.lanes}.op("shl", bits, 16), DType::f32);
}

IrValue to_f32(IrBuilder& ir, const IrValue& value) {
  return value.type == DType::f64 ? round_to_odd(ir, value) : value;
}

}  // namespace

std::string_view memory_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "double";
    case DType::f32:
      return "float";
    case DType::f16:
      return "half";
    case DType::i64:
      return "i64";
    case DType::i32:
      return "i32";
    case DType::bf16:
    case DType::i16:
      return "i16";
    case DType::i8:
    case DType::u8:
    case DType::boolean:
      return "i8";
    default:
      break;
  }
  RECUT_CHECK(false, "a buffer has a dtype");
}

IrValue value_of_memory(IrBuilder& ir, DType dtype, const std::string& text, std::int64_t lanes) {
  const auto as = [&](std::string_view how, DType to) {
    return IrValue{ir.cast(how, memory_type(dtype), text, memory_type(to), lanes), to, lanes};
  };
  switch (dtype) {
    case DType::f16:
      return as("fpext", DType::f32);
    case DType::bf16:
      return f32_of_bf16_bits(ir, as("zext", DType::i32));
    case DType::i16:
    case DType::i8:
      return as("sext", DType::i32);
    case DType::u8:
      return as("zext", DType::i32);
    case DType::boolean: {
      const IrValue number = as("zext", DType::i32);
      return ir.apply("icmp ne", DType::boolean, number, IrBuilder::integer(DType::i32, 0));
    }
    default:
      return {text, dtype, lanes};
  }
}

std::string memory_of_value(IrBuilder& ir, DType dtype, const IrValue& value) {
  const auto as = [&](std::string_view how, std::string_view from, const IrValue& code) {
    return ir.cast(how, from, code.text, memory_type(dtype), code.lanes);
  };
  switch (dtype) {
    case DType::f16:
      return as("fptrunc", "float", to_f32(ir, value));
    case DType::bf16:
      return as("trunc", "i32", bf16_bits(ir, to_f32(ir, value)));
    case DType::i16:
    case DType::i8:
    case DType::u8:
      return as("trunc", "i32", value);
    case DType::boolean:
      return as("zext", "i1", value);
    default:
      return value.text;
  }
}

IrValue narrow_code(IrBuilder& ir, const IrValue& value, DType dtype) {
  if (dtype == DType::f32) return ir.cast("fpext", ir.cast("fptrunc", value, dtype), DType::f64);
  if (dtype == DType::i32) return ir.cast("sext", ir.cast("trunc", value, dtype), DType::i64);
  const bool wide = item_bytes(value.type) == 8;
  const IrValue small = is_floating(dtype) || !wide ? value : ir.cast("trunc", value, DType::i32);
  const std::string memory = memory_of_value(ir, dtype, small);
  const IrValue back = value_of_memory(ir, dtype, memory, value.lanes);
  if (!wide) return back;
  return ir.cast(is_floating(dtype) ? "fpext" : "sext", back, value.type);
}

}  // namespace recut::llvm_ir
