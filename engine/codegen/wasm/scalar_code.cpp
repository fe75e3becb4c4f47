#include "engine/codegen/wasm/scalar_code.h"

#include <algorithm>
#include <array>

#include "engine/codegen/wasm/arithmetic_code.h"
#include "engine/codegen/wasm/lanes.h"
#include "engine/codegen/wasm/storage_code.h"

namespace recut::wasm {
namespace {

using loop::ScalarOp;

// Operators computed by a function of the C library, in f64 and rounded once.
struct LibraryFunction {
  ScalarOp op;
  std::string_view name;
};
constexpr std::array kLibraryFunctions{
    LibraryFunction{ScalarOp::rem, "fmod"},      LibraryFunction{ScalarOp::exp, "exp"},
    LibraryFunction{ScalarOp::exp2, "exp2"},     LibraryFunction{ScalarOp::expm1, "expm1"},
    LibraryFunction{ScalarOp::log, "log"},       LibraryFunction{ScalarOp::log2, "log2"},
    LibraryFunction{ScalarOp::log10, "log10"},   LibraryFunction{ScalarOp::log1p, "log1p"},
    LibraryFunction{ScalarOp::sin, "sin"},       LibraryFunction{ScalarOp::cos, "cos"},
    LibraryFunction{ScalarOp::tan, "tan"},       LibraryFunction{ScalarOp::asin, "asin"},
    LibraryFunction{ScalarOp::acos, "acos"},     LibraryFunction{ScalarOp::atan, "atan"},
    LibraryFunction{ScalarOp::sinh, "sinh"},     LibraryFunction{ScalarOp::cosh, "cosh"},
    LibraryFunction{ScalarOp::tanh, "tanh"},     LibraryFunction{ScalarOp::asinh, "asinh"},
    LibraryFunction{ScalarOp::acosh, "acosh"},   LibraryFunction{ScalarOp::atanh, "atanh"},
    LibraryFunction{ScalarOp::erf, "erf"},       LibraryFunction{ScalarOp::erfc, "erfc"},
    LibraryFunction{ScalarOp::lgamma, "lgamma"}, LibraryFunction{ScalarOp::pow, "pow"},
    LibraryFunction{ScalarOp::atan2, "atan2"},   LibraryFunction{ScalarOp::hypot, "hypot"},
};

// Null if there is none.
const LibraryFunction* library_of(ScalarOp op) {
  const auto* row = std::find_if(kLibraryFunctions.begin(), kLibraryFunctions.end(),
                                 [&](const LibraryFunction& one) { return one.op == op; });
  return row != kLibraryFunctions.end() ? row : nullptr;
}

WasmValue library_call(FunctionBuilder& fn, const Host& host, std::string_view name, DType result,
                       std::span<const WasmValue> operands) {
  const bool narrow = result == DType::f32;
  const Signature signature{std::vector<Type>(operands.size(), Type::f64), {Type::f64}};
  const std::uint64_t function = host.function(name, signature);
  return lane_by_lane(fn, result, operands, [&](std::span<const WasmValue> numbers) {
    for (const WasmValue& number : numbers) {
      fn.push(number);
      if (narrow) fn.emit(Op::f64_promote_f32);
    }
    fn.emit(Op::call, function);
    if (narrow) fn.emit(Op::f32_demote_f64);
    return fn.pop_value(result);
  });
}

WasmValue next_number(FunctionBuilder& fn, const Host& host, DType type,
                      std::span<const WasmValue> operands) {
  const bool narrow = type == DType::f32;
  const Signature signature{{type_of(type), type_of(type)}, {type_of(type)}};
  const std::uint64_t function = host.function(narrow ? "nextafterf" : "nextafter", signature);
  return lane_by_lane(fn, type, operands, [&](std::span<const WasmValue> numbers) {
    for (const WasmValue& number : numbers) fn.push(number);
    fn.emit(Op::call, function);
    return fn.pop_value(type);
  });
}

}  // namespace

WasmValue scalar_code(FunctionBuilder& fn, const Host& host, const loop::Apply& apply, DType result,
                      std::span<const WasmValue> x) {
  const ScalarOp op = apply.op;
  if (loop::scalar_operator(op).signature == loop::Signature::narrowing)
    return narrow_code(fn, x[0], apply.stored);
  if (const DType type = x.back().type; is_floating(type)) {
    if (op == ScalarOp::nextafter) return next_number(fn, host, type, x);
    if (const LibraryFunction* library = library_of(op))
      return library_call(fn, host, library->name, result, x);
  }
  return arithmetic_code(fn, op, result, x);
}

WasmValue combine_code(FunctionBuilder& fn, const Host& host, loop::Combine how, const WasmValue& a,
                       const WasmValue& b) {
  loop::Apply apply;
  apply.op = loop::operator_of(how);
  return scalar_code(fn, host, apply, a.type, std::array{a, b});
}

WasmValue multiply_add_code(FunctionBuilder& fn, const Host& host, const WasmValue& a,
                            const WasmValue& b, const WasmValue& c) {
  if (!host.relaxed || !is_floating(c.type)) {
    const WasmValue product = combine_code(fn, host, loop::Combine::mul, a, b);
    return combine_code(fn, host, loop::Combine::add, c, product);
  }
  const bool wide = c.type == DType::f64;
  const Op op = wide ? Op::f64x2_relaxed_madd : Op::f32x4_relaxed_madd;
  const std::array all{a, b, c};
  if (width(all) > 1)
    return fn.vectors(c.type, width(all), [&](std::size_t piece) {
      for (const WasmValue& operand : all) fn.push(operand, piece);
      fn.emit(op);
    });
  for (const WasmValue& number : all) fn.push_splat(number);
  fn.emit(op);  // one number by the same instruction: the same bits
  fn.emit(wide ? Op::f64x2_extract_lane : Op::f32x4_extract_lane, 0);
  return fn.pop_value(c.type);
}

}  // namespace recut::wasm
