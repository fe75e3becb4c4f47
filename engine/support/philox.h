// Counter-based random numbers: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, Parallel Random
// Numbers: As Easy as 1, 2, 3, SC 2011). A value depends only on the seed, the number of the draw
// and the element's index. So every backend computes the same values in any order, and
// recomputation repeats them.
#pragma once

#include <array>
#include <cstdint>

namespace recut {

using RandomWords = std::array<std::uint32_t, 4>;

// Ten rounds on one counter.
constexpr RandomWords philox(RandomWords counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xd2511f53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xcd9e8d57} * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key = {key[0] + 0x9e3779b9, key[1] + 0xbb67ae85};
  }
  return counter;
}

// The 128 random bits that belong to one element of one draw.
constexpr RandomWords random_words(std::uint64_t seed, std::uint64_t draw, std::uint64_t element) {
  return philox({static_cast<std::uint32_t>(element), static_cast<std::uint32_t>(element >> 32),
                 static_cast<std::uint32_t>(draw), static_cast<std::uint32_t>(draw >> 32)},
                {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

// The first two words as one number.
constexpr std::uint64_t random_bits(const RandomWords& words) {
  return std::uint64_t{words[0]} << 32 | words[1];
}

// Uniform in [0, 1) in steps of 2^-digits: exact in a format of that many significant digits (24
// for f32), so that rounding never gives 1.
double random_uniform(const RandomWords& words, int digits);

// Normal, mean 0 and variance 1 (Box and Muller 1958, the cosine of the pair).
double random_normal(const RandomWords& words);

// Uniform in 0 … bound - 1 by the upper half of a product (Lemire 2019, without the rejection: its
// bias is below 2^-64 times the bound).
std::uint64_t random_below(const RandomWords& words, std::uint64_t bound);

// Numbers as Inductor's kernels draw them from a seed and the element's index (triton's tl.rand,
// tl.randn, and Inductor's randint64): the counter is the index's lower 32 bits, the key the seed.
inline constexpr float kInductorScale = 4.6566127342e-10F;  // just below 2^-31
inline constexpr float kInductorLeast = 1.0e-7F;            // of the logarithm's operand
inline constexpr float kInductorTurn = 6.283185307179586F;
RandomWords inductor_words(std::uint64_t seed, std::uint64_t element);

// Uniform in [0, 1 - 2^-24] in steps of 2^-31, rounded to f32.
float inductor_uniform(std::uint32_t word);

// Normal by the first two words, each step rounded to f32. Triton's log and cos may differ in the
// last bits.
float inductor_normal(const RandomWords& words);

// Uniform in 0 … bound - 1: the remainder of the first two words.
std::uint64_t inductor_below(const RandomWords& words, std::uint64_t bound);

}  // namespace recut
