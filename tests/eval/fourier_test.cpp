// Fourier transforms against the sums that define them, and their laws on random shapes.
#include <catch2/catch_test_macros.hpp>

#include "engine/support/hash.h"
#include "tests/effort.h"
#include "tests/eval/complex_call.h"

namespace recut::test {
namespace {

constexpr double kTurn = 6.283185307179586;

double drawn_part(std::uint64_t seed, std::uint64_t i) {
  return static_cast<double>(hash_mix(seed, i) >> 11) * 0x1p-52 - 1;
}

std::vector<Complex> random_numbers(std::int64_t count, std::uint64_t seed) {
  std::vector<Complex> numbers;
  for (std::int64_t i = 0; i < count; ++i)
    numbers.emplace_back(drawn_part(seed, static_cast<std::uint64_t>(2 * i)),
                         drawn_part(seed, static_cast<std::uint64_t>(2 * i + 1)));
  return numbers;
}

// The sum over j of x[j] exp(sign 2πi jk / n), which is the definition.
std::vector<Complex> by_definition(const std::vector<Complex>& x, double sign) {
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<Complex> out;
  for (std::int64_t k = 0; k < n; ++k) {
    Complex sum;
    for (std::int64_t j = 0; j < n; ++j)
      sum +=
          x[static_cast<std::size_t>(j)] *
          std::polar(1.0, sign * kTurn * static_cast<double>(j * k % n) / static_cast<double>(n));
    out.push_back(sum);
  }
  return out;
}

Named transform(const Argument& self, std::vector<std::int64_t> dims, int mode, bool forward) {
  return {{"self", self},
          {"dim", ints(std::move(dims))},
          {"normalization", mode},
          {"forward", forward}};
}

// Powers of two, small factors, primes beyond them, and products of large primes.
TEST_CASE("Fourier transforms of any length are the sums that define them", "[eval]") {
  for (const std::int64_t n : {1,  2,  3,  4,  5,   7,   8,   12,  16,  30,      31,
                               37, 60, 64, 97, 101, 111, 128, 210, 221, 37 * 41, 1024}) {
    INFO(n);
    const auto x = random_numbers(n, static_cast<std::uint64_t>(n));
    for (const bool forward : {true, false}) {
      ComplexCall c;
      const double tolerance = 1e-14 * static_cast<double>(n);
      CHECK(complex_near(c.numbers("_fft_c2c", transform(c.complexes(x), {0}, 0, forward)),
                         by_definition(x, forward ? -1 : 1), tolerance));
    }
  }
}

TEST_CASE("Fourier transforms are divided by nothing, the root of the length or the length",
          "[eval]") {
  const std::vector<Complex> x = {{1, 0}, {2, 1}, {0, -1}, {3, 0}};
  const auto sums = by_definition(x, -1);
  const double divisors[] = {1, 2, 4};
  for (int mode = 0; mode < 3; ++mode) {
    auto expected = sums;
    for (Complex& z : expected) z /= divisors[mode];
    ComplexCall c;
    CHECK(
        complex_near(c.numbers("_fft_c2c", transform(c.complexes(x), {0}, mode, true)), expected));
  }
}

TEST_CASE("Fourier transforms of real signals: both sides, or one", "[eval]") {
  for (const std::int64_t n : {1, 2, 5, 6, 37}) {
    INFO(n);
    std::vector<double> signal;
    std::vector<Complex> numbers;
    for (std::int64_t i = 0; i < n; ++i) {
      signal.push_back(drawn_part(3, static_cast<std::uint64_t>(i)));
      numbers.emplace_back(signal.back());
    }
    const auto whole = by_definition(numbers, -1);
    ComplexCall c;
    const Argument x = c.tensor(f64, {n}, signal);
    const auto spectrum = [&](bool onesided) {
      return c.numbers(
          "_fft_r2c",
          {{"self", x}, {"dim", ints({0})}, {"normalization", 0}, {"onesided", onesided}});
    };
    CHECK(complex_near(spectrum(false), whole));
    CHECK(complex_near(spectrum(true), {whole.begin(), whole.begin() + n / 2 + 1}));
  }
}

TEST_CASE("Fourier transforms to real signals of an even and of an odd length", "[eval]") {
  ComplexCall c;
  const Argument half = c.complexes({{1, 9}, {2, 1}, {3, -2}});
  const auto signal = [&](int length) {
    return c.run(
        "_fft_c2r",
        {{"self", half}, {"dim", ints({0})}, {"normalization", 0}, {"last_dim_size", length}});
  };
  // The imaginary parts of the first number, and of the middle one of four, don't count.
  const auto expected = [](std::int64_t n) {
    const std::vector<Complex> x = {{1, 0}, {2, 1}, {3, n == 4 ? 0.0 : -2.0}};
    std::vector<Complex> whole = x;
    for (std::int64_t k = 3; k < n; ++k)
      whole.push_back(std::conj(x[static_cast<std::size_t>(n - k)]));
    std::vector<double> reals;
    for (const Complex z : by_definition(whole, 1)) reals.push_back(z.real());
    return reals;
  };
  for (const int n : {4, 5}) {
    const auto found = signal(n), wanted = expected(n);
    REQUIRE(found.size() == wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::abs(found[i] - wanted[i]) < 1e-13);
  }
}

TEST_CASE("Fourier transforms over several dimensions are one after another", "[eval]") {
  ComplexCall c;
  const Shape shape = {3, 2, 5};
  const auto x = random_numbers(30, 9);
  const auto both = c.numbers("_fft_c2c", transform(c.complexes(shape, x), {0, -1}, 2, true));
  const auto first = c.numbers("_fft_c2c", transform(c.complexes(shape, x), {2}, 2, true));
  const auto second = c.numbers("_fft_c2c", transform(c.complexes(shape, first), {0}, 2, true));
  CHECK(complex_near(both, second));
}

struct RandomSignal {
  Shape shape;
  std::vector<std::int64_t> dims;
  std::int64_t count;

  explicit RandomSignal(std::uint64_t seed) {
    const auto rank = static_cast<std::size_t>(1 + hash_mix(seed, 1) % 3);
    for (std::size_t d = 0; d < rank; ++d)
      shape.push_back(static_cast<std::int64_t>(1 + hash_mix(seed, 2 + d) % 41));
    for (std::size_t d = 0; d < rank; ++d)
      if (hash_mix(seed, 10 + d) % 2 == 0) dims.push_back(static_cast<std::int64_t>(d));
    if (dims.empty()) dims.push_back(-1);
    count = element_count(shape);
  }
};

TEST_CASE("Fourier transforms of random shapes: the inverse gives the signal back",
          "[eval][random]") {
  for (std::uint64_t seed = 0; seed < tries(60); ++seed) {
    INFO(seed);
    const RandomSignal s(seed);
    if (s.count > 20000) continue;
    const auto x = random_numbers(s.count, seed);
    ComplexCall c;
    const auto spectrum =
        c.numbers("_fft_c2c", transform(c.complexes(s.shape, x), s.dims, 1, true));
    CHECK(complex_near(
        c.numbers("_fft_c2c", transform(c.complexes(s.shape, spectrum), s.dims, 1, false)), x));
    // Linear: of 2x + ix.
    auto scaled = x;
    for (Complex& z : scaled) z *= Complex(2, 1);
    auto expected = spectrum;
    for (Complex& z : expected) z *= Complex(2, 1);
    CHECK(complex_near(
        c.numbers("_fft_c2c", transform(c.complexes(s.shape, scaled), s.dims, 1, true)), expected,
        1e-12));
    // Parseval: mode 1 keeps the energy.
    double before = 0, after = 0;
    for (const Complex z : x) before += std::norm(z);
    for (const Complex z : spectrum) after += std::norm(z);
    CHECK(std::abs(before - after) <= 1e-12 * before);
  }
}

TEST_CASE("Fourier transforms of random shapes: half a spectrum gives the real signal back",
          "[eval][random]") {
  for (std::uint64_t seed = 100; seed < 100 + tries(60); ++seed) {
    INFO(seed);
    const RandomSignal s(seed);
    if (s.count > 20000) continue;
    std::vector<double> x;
    for (std::int64_t i = 0; i < s.count; ++i)
      x.push_back(drawn_part(seed, static_cast<std::uint64_t>(i)));
    ComplexCall c;
    const Argument self = c.tensor(f64, s.shape, x);
    const auto spectrum = c.numbers(
        "_fft_r2c",
        {{"self", self}, {"dim", ints(s.dims)}, {"normalization", 0}, {"onesided", true}});
    const std::size_t last =
        s.dims.back() < 0 ? s.shape.size() - 1 : static_cast<std::size_t>(s.dims.back());
    Shape half = s.shape;
    half[last] = half[last] / 2 + 1;
    const auto back = c.run("_fft_c2r", {{"self", c.complexes(half, spectrum)},
                                         {"dim", ints(s.dims)},
                                         {"normalization", 2},
                                         {"last_dim_size", s.shape[last]}});
    REQUIRE(back.size() == x.size());
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::abs(back[i] - x[i]) < 1e-12);
  }
}

TEST_CASE("Fourier transforms: shape rules name what is wrong", "[eval]") {
  ComplexCall c;
  const Argument z = c.complexes({2, 3}, random_numbers(6, 1), DType::c64);
  const auto type = [&](std::vector<std::int64_t> dims, int mode) {
    return c.builder.type("_fft_c2c", transform(z, std::move(dims), mode, true));
  };
  CHECK(type({0, 1}, 0) == "c64[2, 3]");
  CHECK(type({1, -1}, 0) == "_fft_c2c: dimension -1 is named twice");
  CHECK(type({0}, 3) == "_fft_c2c: normalization is 3, expected 0 to 2");
  CHECK(c.builder.type("_fft_c2c", transform(c.reals({1}), {0}, 0, true)) ==
        "_fft_c2c: the operand is f32, expected c64 or c128");
  CHECK(c.builder.type(
            "_fft_c2r",
            {{"self", z}, {"dim", ints({1})}, {"normalization", 0}, {"last_dim_size", 6}}) ==
        "_fft_c2r: last_dim_size is 6, expected 1 to 5 for 3 elements");
}

}  // namespace
}  // namespace recut::test
