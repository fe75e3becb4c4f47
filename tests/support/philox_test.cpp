#include "engine/support/philox.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

namespace recut {
namespace {

TEST_CASE("Philox gives the published known answers", "[support]") {
  // From Random123's kat_vectors, philox4x32 with 10 rounds.
  CHECK(philox({0, 0, 0, 0}, {0, 0}) ==
        RandomWords{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        RandomWords{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        RandomWords{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("distributions keep their bounds and moments", "[support]") {
  constexpr RandomWords kOnes = {0xffffffff, 0xffffffff, 0, 0};
  CHECK(random_uniform(kOnes, 24) == 1 - 0x1p-24);
  CHECK(random_uniform(kOnes, 53) == 1 - 0x1p-53);
  CHECK(random_below(kOnes, 10) == 9);
  CHECK(random_below({0x80000000, 0, 0, 0}, 0xfffffffffffffffe) == 0x7fffffffffffffff);
  CHECK(random_below({0, 0, 0, 0}, 10) == 0);
  CHECK(std::isfinite(random_normal({0, 0, 0, 0})));

  constexpr int kCount = 20000;
  double sum = 0, squares = 0, uniform = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double x = random_normal(random_words(1, 2, i));
    sum += x;
    squares += x * x;
    uniform += random_uniform(random_words(3, 4, i), 24);
  }
  CHECK(std::abs(sum / kCount) < 0.03);
  CHECK(std::abs(squares / kCount - 1) < 0.04);
  CHECK(std::abs(uniform / kCount - 0.5) < 0.01);
}

// Values of triton 3.6 on an H200 for tl.rand, tl.randn and Inductor's randint64; those below the
// large bound follow from the words. Its log and cos are approximations.
TEST_CASE("Inductor's numbers are those of triton's kernels", "[support]") {
  constexpr std::uint64_t kSeed = 0x123456789abcdef;
  struct Known {
    std::uint64_t element;
    float uniform, normal;
    std::uint64_t below_1000, below_large;
  };
  constexpr std::uint64_t kLarge = (std::uint64_t{1} << 63) + 5;
  const Known known[] = {
      {0, 0x1.1ebf76p-1F, -0x1.097d3cp+0F, 382, 5011574324617814569},
      {1, 0x1.48d7acp-1F, -0x1.2d31dap-1F, 742, 5926189027463664742},
      {5, 0x1.5d976cp-1F, -0x1.2c165ap-1F, 202, 5837897185741888389},
      {1000003, 0x1.819026p-2F, -0x1.381128p+0F, 600, 5362086541613988600},
  };
  for (const Known& one : known) {
    INFO(one.element);
    const RandomWords words = inductor_words(kSeed, one.element);
    CHECK(inductor_uniform(words[0]) == one.uniform);
    CHECK(std::abs(inductor_normal(words) - one.normal) <= 0x1p-22F);
    CHECK(inductor_below(words, 1000) == one.below_1000);
    CHECK(inductor_below(words, kLarge) == one.below_large);
    CHECK(inductor_words(kSeed, one.element + (std::uint64_t{1} << 32)) == words);
  }
  CHECK(inductor_uniform(0x7fffffff) == 1 - 0x1p-24F);
  CHECK(inductor_uniform(0x80000000) == 1 - 0x1p-24F);
  CHECK(inductor_uniform(0xffffffff) == 0);
}

TEST_CASE("seed, draw and place each make another number", "[support]") {
  const auto at = [](std::uint64_t seed, std::uint64_t draw, std::uint64_t element) {
    return random_bits(random_words(seed, draw, element));
  };
  CHECK(at(1, 0, 0) != at(0, 1, 0));
  CHECK(at(0, 1, 0) != at(0, 0, 1));
  CHECK(at(std::uint64_t{1} << 32, 0, 0) != at(1, 0, 0));
  CHECK(at(0, 0, std::uint64_t{1} << 32) != at(0, 1, 0));
  CHECK(at(7, 8, 9) == at(7, 8, 9));
}

}  // namespace
}  // namespace recut
