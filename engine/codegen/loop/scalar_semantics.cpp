// Reference semantics of the scalar operators, computed in f64 (reals) and i64 (integers) and then
// rounded or wrapped to the type: one rounding, with the C library's functions. i32 shares the code
// of i64, since wrapping commutes with + - * and the bit operators. Targets are tested against this
// file bit by bit, except for the transcendental functions (engine/codegen/README.md, Functions).
#include "engine/codegen/loop/scalar_semantics.h"

#include <cmath>
#include <optional>

#include "engine/support/bits.h"
#include "engine/support/check.h"
#include "engine/support/philox.h"

namespace recut::loop {
namespace {

std::optional<double> unary_real(ScalarOp op, double a) {
  switch (op) {
    case ScalarOp::neg:
      return -a;
    case ScalarOp::abs:
      return std::fabs(a);
    case ScalarOp::sqrt:
      return std::sqrt(a);
    case ScalarOp::floor:
      return std::floor(a);
    case ScalarOp::ceil:
      return std::ceil(a);
    case ScalarOp::trunc:
      return std::trunc(a);
    case ScalarOp::nearest:
      return std::nearbyint(a);
    case ScalarOp::erf:
      return std::erf(a);
    case ScalarOp::erfc:
      return std::erfc(a);
    case ScalarOp::lgamma:
      return std::lgamma(a);
    default:
      return std::nullopt;
  }
}

std::optional<double> exponential(ScalarOp op, double a) {
  switch (op) {
    case ScalarOp::exp:
      return std::exp(a);
    case ScalarOp::exp2:
      return std::exp2(a);
    case ScalarOp::expm1:
      return std::expm1(a);
    case ScalarOp::log:
      return std::log(a);
    case ScalarOp::log2:
      return std::log2(a);
    case ScalarOp::log10:
      return std::log10(a);
    case ScalarOp::log1p:
      return std::log1p(a);
    default:
      return std::nullopt;
  }
}

std::optional<double> trigonometric(ScalarOp op, double a) {
  switch (op) {
    case ScalarOp::sin:
      return std::sin(a);
    case ScalarOp::cos:
      return std::cos(a);
    case ScalarOp::tan:
      return std::tan(a);
    case ScalarOp::asin:
      return std::asin(a);
    case ScalarOp::acos:
      return std::acos(a);
    case ScalarOp::atan:
      return std::atan(a);
    case ScalarOp::sinh:
      return std::sinh(a);
    case ScalarOp::cosh:
      return std::cosh(a);
    case ScalarOp::tanh:
      return std::tanh(a);
    case ScalarOp::asinh:
      return std::asinh(a);
    case ScalarOp::acosh:
      return std::acosh(a);
    case ScalarOp::atanh:
      return std::atanh(a);
    default:
      return std::nullopt;
  }
}

std::optional<double> binary_real(ScalarOp op, DType type, double a, double b) {
  switch (op) {
    case ScalarOp::add:
      return a + b;
    case ScalarOp::sub:
      return a - b;
    case ScalarOp::mul:
      return a * b;
    case ScalarOp::div:
      return a / b;
    case ScalarOp::rem:
      return std::fmod(a, b);
    case ScalarOp::max:
      return a != a || a > b ? a : b;
    case ScalarOp::min:
      return a != a || a < b ? a : b;
    case ScalarOp::pow:
      return std::pow(a, b);
    case ScalarOp::atan2:
      return std::atan2(a, b);
    case ScalarOp::hypot:
      return std::hypot(a, b);
    case ScalarOp::copysign:
      return std::copysign(a, b);
    case ScalarOp::nextafter:
      if (type == DType::f64) return std::nextafter(a, b);
      return std::nextafter(static_cast<float>(a), static_cast<float>(b));
    default:
      return std::nullopt;
  }
}

std::int64_t wrapped(std::uint64_t x) { return static_cast<std::int64_t>(x); }

// For i64, and for i32, where as_type wraps the result. `bits`: of the type.
std::optional<std::int64_t> integer_operator(ScalarOp op, std::int64_t a, std::int64_t b,
                                             int bits) {
  const auto x = static_cast<std::uint64_t>(a);
  const auto y = static_cast<std::uint64_t>(b);
  const bool inside = b >= 0 && b < bits;
  switch (op) {
    case ScalarOp::add:
      return wrapped(x + y);
    case ScalarOp::sub:
      return wrapped(x - y);
    case ScalarOp::mul:
      return wrapped(x * y);
    case ScalarOp::neg:
      return wrapped(0 - x);
    case ScalarOp::abs:
      return a < 0 ? wrapped(0 - x) : a;
    case ScalarOp::max:
      return a > b ? a : b;
    case ScalarOp::min:
      return a < b ? a : b;
    case ScalarOp::bit_and:
      return a & b;
    case ScalarOp::bit_or:
      return a | b;
    case ScalarOp::bit_xor:
      return a ^ b;
    case ScalarOp::bit_not:
      return ~a;
    case ScalarOp::shift_left:
      return inside ? wrapped(x << b) : 0;
    case ScalarOp::shift_right:
      return a >> (inside ? b : bits - 1);
    case ScalarOp::quotient:
      return b == -1 ? wrapped(0 - x) : a / b;
    case ScalarOp::rem:
      return b == -1 ? 0 : a % b;
    default:
      return std::nullopt;
  }
}

template <class T>
bool compare(ScalarOp op, T a, T b) {
  switch (op) {
    case ScalarOp::eq:
      return a == b;
    case ScalarOp::ne:
      return a != b;
    case ScalarOp::lt:
      return a < b;
    case ScalarOp::le:
      return a <= b;
    case ScalarOp::gt:
      return a > b;
    case ScalarOp::ge:
      return a >= b;
    default:
      break;
  }
  RECUT_CHECK(false, "a comparison");
}

// Towards zero. NaN and numbers that don't fit give the most negative integer.
std::int64_t truncated(double x) {
  return x > -9.2233720368547758e18 && x < 9.2233720368547758e18 ? static_cast<std::int64_t>(x)
                                                                 : INT64_MIN;
}

Number converted(DType from, DType to, Number x) {
  const bool real = is_floating(from);
  if (to == DType::boolean) return {0, real ? x.real != 0 : x.integer != 0};
  if (!is_floating(to)) return as_type(to, {0, real ? truncated(x.real) : x.integer});
  if (real) return as_type(to, x);
  // One rounding: an i64 that goes to f32 does not pass f64.
  if (to == DType::f32) return {static_cast<float>(x.integer), 0};
  return {static_cast<double>(x.integer), 0};
}

// Bit cast between a real and an integer type of the same width.
Number reinterpreted(DType from, Number x) {
  switch (from) {
    case DType::f32:
      return {0, bit_cast<std::int32_t>(static_cast<float>(x.real))};
    case DType::f64:
      return {0, bit_cast<std::int64_t>(x.real)};
    case DType::i32:
      return {bit_cast<float>(static_cast<std::int32_t>(x.integer)), 0};
    default:
      return {bit_cast<double>(x.integer), 0};
  }
}

RandomWords words_of(std::int64_t bits) {
  const auto b = static_cast<std::uint64_t>(bits);
  return {static_cast<std::uint32_t>(b >> 32), static_cast<std::uint32_t>(b), 0, 0};
}

Number random_sample(ScalarOp op, std::span<const Number> operands) {
  const auto word = [&](std::size_t i) { return static_cast<std::uint64_t>(operands[i].integer); };
  const RandomWords words = words_of(operands[0].integer);
  switch (op) {
    case ScalarOp::random_bits:
      return {0, wrapped(random_bits(random_words(word(0), word(1), word(2))))};
    case ScalarOp::uniform:
      return {random_uniform(words, static_cast<int>(word(1))), 0};
    case ScalarOp::normal:
      return {random_normal(words), 0};
    default:
      return {0, wrapped(random_below(words, word(1)))};
  }
}

std::optional<Number> real_result(ScalarOp op, DType type, std::span<const Number> operands) {
  const double a = operands[0].real;
  std::optional<double> found;
  if (operands.size() == 2) found = binary_real(op, type, a, operands[1].real);
  if (operands.size() == 1) {
    found = unary_real(op, a);
    if (!found) found = exponential(op, a);
    if (!found) found = trigonometric(op, a);
  }
  if (!found) return std::nullopt;
  return Number{*found, 0};
}

Number arithmetic(ScalarOp op, DType type, std::span<const Number> operands) {
  if (is_floating(type)) {
    const auto found = real_result(op, type, operands);
    RECUT_CHECK(found.has_value(), "every operator of reals has a meaning");
    return as_type(type, *found);
  }
  const std::int64_t b = operands.size() == 2 ? operands[1].integer : 0;
  const auto found = integer_operator(op, operands[0].integer, b, type == DType::i32 ? 32 : 64);
  RECUT_CHECK(found.has_value(), "every operator of integers has a meaning");
  if (type == DType::boolean) return {0, *found & 1};
  return as_type(type, {0, *found});
}

}  // namespace

bool compute(const Apply& apply, DType type, DType result, std::span<const Number> operands,
             std::uint64_t seed, Number& out) {
  const bool divides = apply.op == ScalarOp::quotient || apply.op == ScalarOp::rem;
  if (divides && !is_floating(type) && operands[1].integer == 0) return false;
  switch (scalar_operator(apply.op).signature) {
    case Signature::comparison:
      out = {0, is_floating(type) ? compare(apply.op, operands[0].real, operands[1].real)
                                  : compare(apply.op, operands[0].integer, operands[1].integer)};
      break;
    case Signature::selection:
      out = operands[0].integer != 0 ? operands[1] : operands[2];
      break;
    case Signature::conversion:
      out = converted(type, result, operands[0]);
      break;
    case Signature::narrowing:
      out = round_trip(apply.stored, operands[0]);
      break;
    case Signature::reinterpretation:
      out = reinterpreted(type, operands[0]);
      break;
    case Signature::random_seed:
      out = {0, static_cast<std::int64_t>(seed)};
      break;
    case Signature::random_bits:
    case Signature::random_uniform:
    case Signature::random_normal:
    case Signature::random_below:
      out = random_sample(apply.op, operands);
      break;
    default:
      out = arithmetic(apply.op, type, operands);
  }
  return true;
}

Number combine(Combine how, DType type, Number so_far, Number next) {
  const Number operands[] = {next, so_far};
  return arithmetic(operator_of(how), type, operands);
}

Number multiply_add(DType type, Number a, Number b, Number so_far) {
  if (type == DType::f64) return {std::fma(a.real, b.real, so_far.real), 0};
  if (type == DType::f32)
    return {std::fma(static_cast<float>(a.real), static_cast<float>(b.real),
                     static_cast<float>(so_far.real)),
            0};
  return combine(Combine::add, type, so_far, combine(Combine::mul, type, b, a));
}

}  // namespace recut::loop
