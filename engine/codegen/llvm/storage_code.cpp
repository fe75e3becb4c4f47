#include "engine/codegen/llvm/storage_code.h"

#include <fmt/format.h>

#include "engine/support/check.h"

namespace recut::llvm_ir {
namespace {

// Shorthands for i32 instructions with a constant.
struct Bits {
  Writer& w;
  std::int64_t lanes;
  Code i32(std::int64_t number) const { return Writer::integer(DType::i32, number, lanes); }
  Code op(std::string_view instruction, const Code& a, std::int64_t b) const {
    return w.apply(instruction, DType::i32, a, i32(b));
  }
};

// An f32 near x that rounds to fewer digits as x itself does: towards zero, with the last bit set
// where something was lost (round to odd; Boldo and Melquiond, Emulation of FMA and Correctly
// Rounded Sums, 2008).
Code to_odd(Writer& w, const Code& x) {
  const Bits bits{w, x.lanes};
  const Code near = w.cast("fptrunc", x, DType::f32);
  const Code back = w.cast("fpext", near, DType::f64);
  const Code lost = w.apply("fcmp one", DType::boolean, back, x);
  const Code further = w.apply("fcmp ogt", DType::boolean, w.intrinsic("llvm.fabs", {back}),
                               w.intrinsic("llvm.fabs", {x}));
  const Code pattern = w.cast("bitcast", near, DType::i32);
  const Code lower = w.select(further, bits.op("sub", pattern, 1), pattern);
  const Code odd = w.select(lost, bits.op("or", lower, 1), pattern);
  return w.cast("bitcast", odd, DType::f32);
}

// The upper half of an f32's bits, rounded to nearest even; NaN stays one.
Code bf16_bits(Writer& w, const Code& x) {
  const Bits bits{w, x.lanes};
  const Code pattern = w.cast("bitcast", x, DType::i32);
  const Code last = bits.op("and", bits.op("lshr", pattern, 16), 1);
  const Code carried = w.apply("add", DType::i32, pattern, bits.op("add", last, 0x7fff));
  const Code nan = bits.op("or", pattern, 0x400000);
  const Code whole = w.select(w.apply("fcmp uno", DType::boolean, x, x), nan, carried);
  return bits.op("lshr", whole, 16);
}

Code f32_of_bf16_bits(Writer& w, const Code& bits) {
  return w.cast("bitcast", Bits{w, bits.lanes}.op("shl", bits, 16), DType::f32);
}

Code single(Writer& w, const Code& value) {
  return value.type == DType::f64 ? to_odd(w, value) : value;
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

Code value_of_memory(Writer& w, DType dtype, const std::string& text, std::int64_t lanes) {
  const auto as = [&](std::string_view how, DType to) {
    return Code{w.cast(how, memory_type(dtype), text, memory_type(to), lanes), to, lanes};
  };
  switch (dtype) {
    case DType::f16:
      return as("fpext", DType::f32);
    case DType::bf16:
      return f32_of_bf16_bits(w, as("zext", DType::i32));
    case DType::i16:
    case DType::i8:
      return as("sext", DType::i32);
    case DType::u8:
      return as("zext", DType::i32);
    case DType::boolean: {
      const Code number = as("zext", DType::i32);
      return w.apply("icmp ne", DType::boolean, number, Writer::integer(DType::i32, 0));
    }
    default:
      return {text, dtype, lanes};
  }
}

std::string memory_of_value(Writer& w, DType dtype, const Code& value) {
  const auto as = [&](std::string_view how, std::string_view from, const Code& code) {
    return w.cast(how, from, code.text, memory_type(dtype), code.lanes);
  };
  switch (dtype) {
    case DType::f16:
      return as("fptrunc", "float", single(w, value));
    case DType::bf16:
      return as("trunc", "i32", bf16_bits(w, single(w, value)));
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

Code narrow_code(Writer& w, const Code& value, DType dtype) {
  if (dtype == DType::f32) return w.cast("fpext", w.cast("fptrunc", value, dtype), DType::f64);
  if (dtype == DType::i32) return w.cast("sext", w.cast("trunc", value, dtype), DType::i64);
  const bool wide = item_bytes(value.type) == 8;
  const Code small = is_floating(dtype) || !wide ? value : w.cast("trunc", value, DType::i32);
  const std::string memory = memory_of_value(w, dtype, small);
  const Code back = value_of_memory(w, dtype, memory, value.lanes);
  if (!wide) return back;
  return w.cast(is_floating(dtype) ? "fpext" : "sext", back, value.type);
}

}  // namespace recut::llvm_ir
