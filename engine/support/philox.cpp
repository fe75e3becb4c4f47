#include "engine/support/philox.h"

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

}  // namespace recut
