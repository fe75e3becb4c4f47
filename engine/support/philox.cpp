#include "engine/support/philox.h"

#include <algorithm>
#include <cmath>

namespace recut {

double random_uniform(const RandomWords& words, int digits) {
  return std::ldexp(static_cast<double>(random_bits(words) >> (64 - digits)), -digits);
}

double random_normal(const RandomWords& words) {
  const double above_zero = (static_cast<double>(words[0]) + 1) * 0x1p-32;
  const double turn = static_cast<double>(words[1]) * 0x1p-32;
  return std::sqrt(-2 * std::log(above_zero)) * std::cos(6.28318530717958647693 * turn);
}

std::uint64_t random_below(const RandomWords& words, std::uint64_t bound) {
  // The upper 64 bits of a 64 by 64 product, by halves: not every platform has 128 bits.
  const std::uint64_t low = words[1] * (bound & 0xffffffff);
  const std::uint64_t middle = words[0] * (bound & 0xffffffff) + (low >> 32);
  const std::uint64_t other = words[1] * (bound >> 32) + (middle & 0xffffffff);
  return words[0] * (bound >> 32) + (middle >> 32) + (other >> 32);
}

RandomWords inductor_words(std::uint64_t seed, std::uint64_t element) {
  return random_words(seed, 0, element & 0xffffffff);
}

float inductor_uniform(std::uint32_t word) {
  const auto number = static_cast<std::int32_t>(word);
  // Triton's -x - 1 is ~x, which does not overflow at the least number.
  return static_cast<float>(number < 0 ? ~number : number) * kInductorScale;
}

float inductor_normal(const RandomWords& words) {
  const float u1 = std::max(kInductorLeast, inductor_uniform(words[0]));
  const float angle = kInductorTurn * inductor_uniform(words[1]);
  const auto logarithm = static_cast<float>(std::log(double{u1}));
  return std::sqrt(-2.0F * logarithm) * static_cast<float>(std::cos(double{angle}));
}

std::uint64_t inductor_below(const RandomWords& words, std::uint64_t bound) {
  return (std::uint64_t{words[1]} << 32 | words[0]) % bound;
}

}  // namespace recut
