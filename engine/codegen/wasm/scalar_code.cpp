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
struct Library {
  ScalarOp op;
  std::string_view name;
};
constexpr std::array kLibrary{
    Library{ScalarOp::rest, "fmod"},     Library{ScalarOp::exp, "exp"},
    Library{ScalarOp::exp2, "exp2"},     Library{ScalarOp::expm1, "expm1"},
    Library{ScalarOp::log, "log"},       Library{ScalarOp::log2, "log2"},
    Library{ScalarOp::log10, "log10"},   Library{ScalarOp::log1p, "log1p"},
    Library{ScalarOp::sin, "sin"},       Library{ScalarOp::cos, "cos"},
    Library{ScalarOp::tan, "tan"},       Library{ScalarOp::asin, "asin"},
    Library{ScalarOp::acos, "acos"},     Library{ScalarOp::atan, "atan"},
    Library{ScalarOp::sinh, "sinh"},     Library{ScalarOp::cosh, "cosh"},
    Library{ScalarOp::tanh, "tanh"},     Library{ScalarOp::asinh, "asinh"},
    Library{ScalarOp::acosh, "acosh"},   Library{ScalarOp::atanh, "atanh"},
    Library{ScalarOp::erf, "erf"},       Library{ScalarOp::erfc, "erfc"},
    Library{ScalarOp::lgamma, "lgamma"}, Library{ScalarOp::pow, "pow"},
    Library{ScalarOp::atan2, "atan2"},   Library{ScalarOp::hypot, "hypot"},
};

// Null if there is none.
const Library* library_of(ScalarOp op) {
  const auto* row = std::find_if(kLibrary.begin(), kLibrary.end(),
                                 [&](const Library& one) { return one.op == op; });
  return row != kLibrary.end() ? row : nullptr;
}

Code by_library(Writer& w, const Host& host, std::string_view name, DType result,
                std::span<const Code> operands) {
  const bool narrow = result == DType::f32;
  const Signature signature{std::vector<Type>(operands.size(), Type::f64), {Type::f64}};
  const std::uint64_t function = host.function(name, signature);
  return lane_by_lane(w, result, operands, [&](std::span<const Code> numbers) {
    for (const Code& number : numbers) {
      w.push(number);
      if (narrow) w.put(Op::f64_promote_f32);
    }
    w.put(Op::call, function);
    if (narrow) w.put(Op::f32_demote_f64);
    return w.number(result);
  });
}

Code next_number(Writer& w, const Host& host, DType type, std::span<const Code> operands) {
  const bool narrow = type == DType::f32;
  const Signature signature{{type_of(type), type_of(type)}, {type_of(type)}};
  const std::uint64_t function = host.function(narrow ? "nextafterf" : "nextafter", signature);
  return lane_by_lane(w, type, operands, [&](std::span<const Code> numbers) {
    for (const Code& number : numbers) w.push(number);
    w.put(Op::call, function);
    return w.number(type);
  });
}

}  // namespace

Code scalar_code(Writer& w, const Host& host, const loop::Apply& apply, DType result,
                 std::span<const Code> x) {
  const ScalarOp op = apply.op;
  if (loop::scalar_operator(op).signature == loop::Signature::narrowing)
    return narrow_code(w, x[0], apply.stored);
  if (const DType type = x.back().type; is_floating(type)) {
    if (op == ScalarOp::nextafter) return next_number(w, host, type, x);
    if (const Library* library = library_of(op))
      return by_library(w, host, library->name, result, x);
  }
  return arithmetic_code(w, op, result, x);
}

Code combine_code(Writer& w, const Host& host, loop::Combine how, const Code& a, const Code& b) {
  loop::Apply apply;
  apply.op = loop::operator_of(how);
  return scalar_code(w, host, apply, a.type, std::array{a, b});
}

Code multiply_add_code(Writer& w, const Host& host, const Code& a, const Code& b, const Code& c) {
  if (!host.relaxed || !is_floating(c.type)) {
    const Code product = combine_code(w, host, loop::Combine::mul, a, b);
    return combine_code(w, host, loop::Combine::add, c, product);
  }
  const bool wide = c.type == DType::f64;
  const Op op = wide ? Op::f64x2_relaxed_madd : Op::f32x4_relaxed_madd;
  const std::array all{a, b, c};
  if (width(all) > 1)
    return w.vectors(c.type, width(all), [&](std::size_t piece) {
      for (const Code& operand : all) w.push(operand, piece);
      w.put(op);
    });
  for (const Code& number : all) w.push_spread(number);
  w.put(op);  // one number by the same instruction: the same bits
  w.put(wide ? Op::f64x2_extract_lane : Op::f32x4_extract_lane, 0);
  return w.number(c.type);
}

}  // namespace recut::wasm
