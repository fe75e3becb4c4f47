// Storage formats: f16 and bf16 are encoded and decoded bit by bit, the others are C++ types.
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/codegen/loop/scalar_semantics.h"
#include "engine/support/check.h"

namespace recut::loop {
namespace {

// A 16-bit format: mantissa bits and exponent bias; the other bits are sign and exponent.
struct Float16Format {
  int mantissa;
  int bias;
};
constexpr Float16Format kF16{10, 15};
constexpr Float16Format kBf16{7, 127};

std::uint16_t encode(const Float16Format& format, double x) {
  const int exponent_bits = 15 - format.mantissa;
  const auto sign = static_cast<std::uint16_t>(std::signbit(x) ? 0x8000 : 0);
  const auto infinity = static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << format.mantissa);
  if (std::isnan(x))
    return static_cast<std::uint16_t>(sign | infinity | (1 << (format.mantissa - 1)));
  if (x == 0) return sign;
  // In units of the last place, which subnormal numbers share with the smallest normal ones.
  // Counted from zero they are the bits themselves, also across the boundary of two exponents.
  int exponent = 0;
  if (!std::isinf(x)) std::frexp(std::fabs(x), &exponent);
  exponent = exponent - 1 < 1 - format.bias ? 1 - format.bias : exponent - 1;
  if (std::isinf(x) || exponent > format.bias) return static_cast<std::uint16_t>(sign | infinity);
  const double steps = std::nearbyint(std::ldexp(std::fabs(x), format.mantissa - exponent));
  const int bits = static_cast<int>(steps) + ((exponent + format.bias - 1) << format.mantissa);
  return static_cast<std::uint16_t>(sign | (bits < infinity ? bits : infinity));
}

double decode(const Float16Format& format, std::uint16_t bits) {
  const int exponent = (bits & 0x7fff) >> format.mantissa;
  const int mantissa = bits & ((1 << format.mantissa) - 1);
  const bool special = exponent == (1 << (15 - format.mantissa)) - 1;
  double size = 0;
  if (special)
    size = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : INFINITY;
  else if (exponent == 0)
    size = std::ldexp(mantissa, 1 - format.bias - format.mantissa);
  else
    size = std::ldexp(mantissa + (1 << format.mantissa), exponent - format.bias - format.mantissa);
  return (bits & 0x8000) != 0 ? -size : size;
}

template <class T>
T read_as(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
void write_as(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

}  // namespace

Number read_element(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::f64:
      return {read_as<double>(at), 0};
    case DType::f32:
      return {read_as<float>(at), 0};
    case DType::f16:
      return {decode(kF16, read_as<std::uint16_t>(at)), 0};
    case DType::bf16:
      return {decode(kBf16, read_as<std::uint16_t>(at)), 0};
    case DType::i64:
      return {0, read_as<std::int64_t>(at)};
    case DType::i32:
      return {0, read_as<std::int32_t>(at)};
    case DType::i16:
      return {0, read_as<std::int16_t>(at)};
    case DType::i8:
      return {0, read_as<std::int8_t>(at)};
    case DType::u8:
      return {0, read_as<std::uint8_t>(at)};
    case DType::boolean:
      return {0, read_as<std::uint8_t>(at) != 0 ? 1 : 0};
    default:
      break;
  }
  RECUT_CHECK(false, "a buffer has a dtype");
}

void write_element(DType dtype, std::byte* at, Number number) {
  switch (dtype) {
    case DType::f64:
      return write_as(at, number.real);
    case DType::f32:
      return write_as(at, static_cast<float>(number.real));
    case DType::f16:
      return write_as(at, encode(kF16, number.real));
    case DType::bf16:
      return write_as(at, encode(kBf16, number.real));
    case DType::i64:
      return write_as(at, number.integer);
    case DType::i32:
      return write_as(at, static_cast<std::int32_t>(number.integer));
    case DType::i16:
      return write_as(at, static_cast<std::int16_t>(number.integer));
    case DType::i8:
      return write_as(at, static_cast<std::int8_t>(number.integer));
    case DType::u8:
      return write_as(at, static_cast<std::uint8_t>(number.integer));
    case DType::boolean:
      return write_as(at, static_cast<std::uint8_t>(number.integer != 0 ? 1 : 0));
    default:
      break;
  }
  RECUT_CHECK(false, "a buffer has a dtype");
}

Number round_trip(DType stored, Number number) {
  std::byte memory[8];
  write_element(stored, memory, number);
  return read_element(stored, memory);
}

Number as_type(DType type, Number number) {
  if (type == DType::f32) number.real = static_cast<float>(number.real);
  if (type == DType::i32) number.integer = static_cast<std::int32_t>(number.integer);
  return number;
}

}  // namespace recut::loop
