// exp, log, tanh and erf of f32 for all lanes at once: exp by a polynomial in f32, the others in
// f64 by series that are good for far more digits than f32 has, and rounded once.
#include "engine/codegen/loop/series.h"

#include <array>
#include <cmath>

namespace recut::loop {
namespace {

constexpr DType kWide = DType::f64;

Scalar number(double value) { return Scalar::real(kWide, value); }
Scalar whole(std::int64_t value) { return Scalar::whole(DType::i64, value); }

// Horner's rule, from the highest power down.
template <std::size_t n>
Scalar polynomial(const Scalar& x, const std::array<double, n>& highest_first) {
  Scalar sum = x.like(highest_first[0]);
  for (std::size_t k = 1; k < n; ++k) sum = sum * x + highest_first[k];
  return sum;
}

// The whole number nearest to x, which is small: 1.5 times the power of two that leaves no room for
// a fraction is added, whose last bits are then the number. As a real, and as bits to come.
struct Nearest {
  Scalar real, integer;
};
Nearest nearest(const Scalar& x) {
  const bool wide = x.type() == kWide;
  const DType bits = wide ? DType::i64 : DType::i32;
  const Scalar shift = x.like(wide ? 0x1.8p52 : 0x1.8p23);
  const Scalar shifted = x + shift;
  return {shifted - shift,
          operate(ScalarOp::sub, reinterpreted(shifted, bits), reinterpreted(shift, bits))};
}

// e^x for |x| up to 700: 2^n times the series of the rest, |rest| <= log(2)/2, to its 10th power:
// the next term is below 3e-13.
Scalar wide_exp(const Scalar& x) {
  static constexpr std::array kSeries{1 / 3628800.0, 1 / 362880.0, 1 / 40320.0, 1 / 5040.0,
                                      1 / 720.0,     1 / 120.0,    1 / 24.0,    1 / 6.0,
                                      0.5,           1.0,          1.0};
  const Nearest n = nearest(x * 1.4426950408889634);
  const Scalar rest = x - n.real * 0.6931471805599453;
  const Scalar power = reinterpreted((n.integer + whole(1023)) << 52, kWide);
  return polynomial(rest, kSeries) * power;
}

// x, but no further from 0 than what rounds to f32 alike, and 0 for NaN.
Scalar within(const Scalar& x, double least, double most) {
  const Scalar above = select(x > least, x, x.like(least));
  const Scalar inside = select(above < most, above, above.like(most));
  return select(x == x, inside, x.like(0));
}

// `made` where x is a number, and x where it is NaN, as f32.
Scalar rounded(const Scalar& x, const Scalar& made) {
  return converted(select(x == x, made, x), DType::f32);
}

Scalar abs(const Scalar& x) { return operate(ScalarOp::abs, x); }

// e^x = 2^n (1 + r + r^2 q(r)) with |r| <= log(2)/2: q by Chebyshev's interpolation, off by 0.18
// units in the last place of e^r. log(2) is taken away in two parts, of which n times the first is
// exact (Cody and Waite 1980), and 2^n comes in two factors, so that numbers below the smallest
// normal one are rounded once.
Scalar exp_series(std::span<const Scalar> operands) {
  static constexpr std::array kQ{0.0013926376, 0.00836333308, 0.0416665535, 0.166665761, 0.5};
  const Scalar& x = operands[0];
  const Scalar inside = within(x, -104, 89);
  const Nearest n = nearest(inside * 1.44269504);
  const Scalar rest = (inside - n.real * 0.693359375) + n.real * 2.12194440e-4;
  const Scalar beyond = (rest * rest) * polynomial(rest, kQ) + rest;
  const Scalar half = n.integer >> 1;
  const auto power = [](const Scalar& exponent) {
    return reinterpreted((exponent + 127) << 23, DType::f32);
  };
  const Scalar made = ((beyond + 1) * power(half)) * power(n.integer - half);
  return select(x == x, made, x);
}

// x = m * 2^e with m from sqrt(1/2) to sqrt(2), and log(m) = 2 artanh((m-1)/(m+1)) by its series.
Scalar log_series(std::span<const Scalar> operands) {
  static constexpr std::array kSeries{2 / 17.0, 2 / 15.0, 2 / 13.0, 2 / 11.0, 2 / 9.0,
                                      2 / 7.0,  2 / 5.0,  2 / 3.0,  2.0};
  const Scalar x = converted(operands[0], kWide);
  const Scalar bits = reinterpreted(x, DType::i64);
  const Scalar field = (bits >> 52) & whole(0x7ff);
  const Scalar fraction = bits & whole((std::int64_t{1} << 52) - 1);
  const Scalar one_to_two = reinterpreted(fraction | whole(std::int64_t{1023} << 52), kWide);
  const Scalar large = one_to_two > 1.4142135623730951;
  const Scalar m = select(large, one_to_two * 0.5, one_to_two);
  const Scalar exponent = converted(converted(field - 1023, DType::i32), kWide);
  const Scalar e = select(large, exponent + 1, exponent);
  const Scalar ratio = (m - 1) / (m + 1);
  const Scalar made = e * 0.6931471805599453 + ratio * polynomial(ratio * ratio, kSeries);
  const Scalar of_zero = select(x == 0, number(-INFINITY), made);
  const Scalar of_less = select(x < 0, number(NAN), of_zero);
  return rounded(x, select(x == INFINITY, x, of_less));
}

// 1 - 2 / (e^2a + 1), and near 0, where that cancels, its series; the sign is x's.
Scalar tanh_series(std::span<const Scalar> operands) {
  static constexpr std::array kSeries{-17 / 315.0, 2 / 15.0, -1 / 3.0, 1.0};
  const Scalar x = converted(operands[0], kWide);
  const Scalar size = within(abs(x), 0, 20);
  const Scalar far = 1 - 2 / (wide_exp(size + size) + 1);
  const Scalar near = size * polynomial(size * size, kSeries);
  return rounded(x, operate(ScalarOp::copysign, select(size < 0.0078125, near, far), x));
}

// 2/sqrt(pi) (-1)^k / (k! (2k + 1)), the highest k first.
std::array<double, 15> erf_near_zero() {
  std::array<double, 15> series{};
  double factorial = 1;
  for (int k = 0; k < 15; ++k) {
    if (k > 0) factorial *= -k;
    series[static_cast<std::size_t>(14 - k)] = 1.1283791670955126 / (factorial * (2 * k + 1));
  }
  return series;
}

// Its series below 1; above, 1 - t e^(P(t) - a^2) with t = 1/(1 + a/2), the form of Numerical
// Recipes (6.2) with a polynomial of our own: Chebyshev's interpolation of degree 9 for a from 1 to
// 6, off by 1.1e-12 at most.
Scalar erf_series(std::span<const Scalar> operands) {
  static constexpr std::array kFar{2.2274109028330714e-07, -5.641283351565107e-07,
                                   -4.498436089761527e-06, 1.600776687666894e-05,
                                   9.558992944036505e-05,  -0.00040145918639051815,
                                   -0.0031116984074557766, 0.010174693875142806,
                                   0.2765835893361422,     -0.7274922853220915};
  const Scalar x = converted(operands[0], kWide);
  const Scalar size = within(abs(x), 0, 6);
  const Scalar square = size * size;
  const Scalar near = size * polynomial(square, erf_near_zero());
  const Scalar t = 1 / (1 + size * 0.5);
  const Scalar u = (t - 0.4583333333333333) * 4.8;
  const Scalar far = 1 - t * wide_exp(polynomial(u, kFar) - square);
  return rounded(x, operate(ScalarOp::copysign, select(size < 1, near, far), x));
}

}  // namespace

Series find_series(ScalarOp op, DType type) {
  if (type == DType::f32) {
    if (op == ScalarOp::exp) return exp_series;
    if (op == ScalarOp::log) return log_series;
    if (op == ScalarOp::tanh) return tanh_series;
    if (op == ScalarOp::erf) return erf_series;
  }
  return find_random_series(op);
}

}  // namespace recut::loop
