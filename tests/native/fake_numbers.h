// Numbers as the fake libraries load and store them.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace recut::cuda {

enum class Stored : std::uint8_t { f32, f16, bf16 };

// Rounds to so many fraction bits.
constexpr int kAllBits = 52, kBitsOfTf32 = 10, kBitsOfBf16 = 7;
inline double rounded(double value, int bits) {
  if (bits == kAllBits) return value;
  int exponent = 0;
  const double digits = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(digits, bits + 1)), exponent - bits - 1);
}

inline double as_f16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, digits = bits & 1023;
  double size = digits * 0x1p-24;
  if (exponent == 31) {
    size = digits == 0 ? INFINITY : NAN;
  } else if (exponent != 0) {
    const auto wide = static_cast<std::uint64_t>(exponent + 1023 - 15) << 52 |
                      static_cast<std::uint64_t>(digits) << 42;
    std::memcpy(&size, &wide, sizeof size);
  }
  return (bits >> 15) != 0 ? -size : size;
}

inline std::uint16_t f16_bits(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double size = std::fabs(value);
  if (std::isnan(value)) return 0x7e00;
  if (size >= 65520) return sign | 0x7c00;
  int exponent = size < 0x1p-14 ? -14 : std::ilogb(size);
  // Rounded to even; what overflows the digits goes on in the exponent.
  const auto digits = static_cast<int>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  if (digits < 1024) return sign | static_cast<std::uint16_t>(digits);
  return sign | static_cast<std::uint16_t>(((exponent + 15) << 10) + digits - 1024);
}

inline double as_bf16(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

inline std::uint16_t bf16_bits(float value) {
  std::uint32_t wide = 0;
  std::memcpy(&wide, &value, sizeof wide);
  if (std::isnan(value)) return 0x7fc0;
  return static_cast<std::uint16_t>((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
}

inline double load(Stored stored, const void* from, std::int64_t place) {
  if (stored == Stored::f32) return static_cast<const float*>(from)[place];
  const std::uint16_t bits = static_cast<const std::uint16_t*>(from)[place];
  return stored == Stored::f16 ? as_f16(bits) : as_bf16(bits);
}

inline void store(Stored stored, void* to, std::int64_t place, double value) {
  if (stored == Stored::f32)
    static_cast<float*>(to)[place] = static_cast<float>(value);
  else
    static_cast<std::uint16_t*>(to)[place] =
        stored == Stored::f16 ? f16_bits(value) : bf16_bits(static_cast<float>(value));
}

}  // namespace recut::cuda
