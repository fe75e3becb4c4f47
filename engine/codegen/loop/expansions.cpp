// exp, log, tanh and erf of f32 without branches, for all lanes at once. log is a series in f64,
// which is far more accurate than f32, and is rounded once; the others are polynomials in f32, by
// Chebyshev interpolation.
#include "engine/codegen/loop/expansions.h"

#include <array>
#include <cmath>

namespace recut::loop {
namespace {

constexpr DType kWide = DType::f64;

ScalarTree number(double value) { return ScalarTree::real(kWide, value); }
// Horner's rule, from the highest power down.
template <std::size_t n>
ScalarTree polynomial(const ScalarTree& x, const std::array<double, n>& highest_first) {
  ScalarTree sum = x.like(highest_first[0]);
  for (std::size_t k = 1; k < n; ++k) sum = sum * x + highest_first[k];
  return sum;
}

// The integer nearest to x, a small f32. Adding 1.5 * 2^23 leaves no bits for a fraction, and the
// last bits of the sum are the integer. Given as a real, and as an i32.
struct Nearest {
  ScalarTree real, integer;
};
Nearest nearest(const ScalarTree& x) {
  const ScalarTree shift = x.like(0x1.8p23);
  const ScalarTree shifted = x + shift;
  return {shifted - shift, operate(ScalarOp::sub, reinterpreted(shifted, DType::i32),
                                   reinterpreted(shift, DType::i32))};
}

// Clamping. NaN stays NaN, and so does everything computed from it, whatever the bits of its
// nearest integer are.
ScalarTree at_least(const ScalarTree& x, double least) {
  return operate(ScalarOp::max, x, x.like(least));
}
ScalarTree at_most(const ScalarTree& x, double most) {
  return operate(ScalarOp::min, x, x.like(most));
}

ScalarTree abs(const ScalarTree& x) { return operate(ScalarOp::abs, x); }

// e^x = 2^n (1 + beyond), beyond = r + r^2 q(r) with |r| <= log(2)/2: q is off by 0.18 units in the
// last place of e^r. log(2) is taken away in two parts, of which n times the first is exact (Cody
// and Waite 1980).
struct ExponentialParts {
  ScalarTree beyond, n;
};
ExponentialParts exponential(const ScalarTree& x) {
  static constexpr std::array kQ{0.0013926376, 0.00836333308, 0.0416665535, 0.166665761, 0.5};
  const Nearest n = nearest(x * 1.44269504);
  const ScalarTree rest = (x - n.real * 0.693359375) + n.real * 2.12194440e-4;
  return {(rest * rest) * polynomial(rest, kQ) + rest, n.integer};
}

// 2^n as f32, if that is a normal number.
ScalarTree power(const ScalarTree& n) { return reinterpreted((n + 127) << 23, DType::f32); }

// 2^n is applied as two factors, so that subnormal results are rounded only once.
ScalarTree expand_exp(std::span<const ScalarTree> operands) {
  const ExponentialParts e = exponential(at_most(at_least(operands[0], -104), 89));
  const ScalarTree half = e.n >> 1;
  return ((e.beyond + 1) * power(half)) * power(e.n - half);
}

// For |x| up to 87.
ScalarTree exp_in_range(const ScalarTree& x) {
  const ExponentialParts e = exponential(x);
  return (e.beyond + 1) * power(e.n);
}

// x = m * 2^e with m from sqrt(1/2) to sqrt(2), and log(m) = 2 artanh((m-1)/(m+1)) by its series.
ScalarTree expand_log(std::span<const ScalarTree> operands) {
  static constexpr std::array kSeries{2 / 17.0, 2 / 15.0, 2 / 13.0, 2 / 11.0, 2 / 9.0,
                                      2 / 7.0,  2 / 5.0,  2 / 3.0,  2.0};
  const ScalarTree x = converted(operands[0], kWide);
  const ScalarTree bits = reinterpreted(x, DType::i64);
  const ScalarTree field = (bits >> 52) & whole(0x7ff);
  const ScalarTree fraction = bits & whole((std::int64_t{1} << 52) - 1);
  const ScalarTree one_to_two = reinterpreted(fraction | whole(std::int64_t{1023} << 52), kWide);
  const ScalarTree large = one_to_two > 1.4142135623730951;
  const ScalarTree m = select(large, one_to_two * 0.5, one_to_two);
  const ScalarTree exponent = converted(converted(field - 1023, DType::i32), kWide);
  const ScalarTree e = select(large, exponent + 1, exponent);
  const ScalarTree ratio = (m - 1) / (m + 1);
  const ScalarTree result = e * 0.6931471805599453 + ratio * polynomial(ratio * ratio, kSeries);
  const ScalarTree of_zero = select(x == 0, number(-INFINITY), result);
  const ScalarTree of_less = select(x < 0, number(NAN), of_zero);
  return converted(select(x < INFINITY, of_less, x), DType::f32);
}

// The sign is x's: both are odd.
ScalarTree signed_as(const ScalarTree& x, const ScalarTree& size) {
  return operate(ScalarOp::copysign, size, x);
}

// 1 - 2 / (e^2a + 1), and near 0, where that cancels, a + a^3 p(a^2).
ScalarTree expand_tanh(std::span<const ScalarTree> operands) {
  static constexpr std::array kNear{-0.006096714176237583, 0.020997179672122, -0.05385090783238411,
                                    0.1333276927471161, -0.333333283662796};
  const ScalarTree size = at_most(abs(operands[0]), 10);
  const ScalarTree square = size * size;
  const ScalarTree near = size + size * (square * polynomial(square, kNear));
  const ScalarTree far = 1 - 2 / (exp_in_range(size + size) + 1);
  return signed_as(operands[0], select(size < 0.625, near, far));
}

// a + a p(a^2) below 1; above, 1 - e^q(a), q that of log(erfc(a)).
ScalarTree expand_erf(std::span<const ScalarTree> operands) {
  static constexpr std::array kNear{
      7.875874871388078e-05, -0.000801686430349946, 0.005189087241888046, -0.02685421146452427,
      0.11283594369888306,   -0.3761262595653534,   0.12837916612625122};
  static constexpr std::array kFar{
      1.6371513993362896e-06, -4.605804497259669e-05, 0.0005968056502752006,
      -0.004759596195071936,  0.026421135291457176,   -0.11008008569478989,
      -0.6318260431289673,    -1.1302334070205688,    0.0003201380604878068};
  const ScalarTree size = at_most(abs(operands[0]), 4);
  const ScalarTree near = size + size * polynomial(size * size, kNear);
  const ScalarTree far = 1 - exp_in_range(polynomial(size, kFar));
  return signed_as(operands[0], select(size < 1, near, far));
}

}  // namespace

ScalarExpansion find_expansion(ScalarOp op, DType type) {
  if (type == DType::f32) {
    if (op == ScalarOp::exp) return expand_exp;
    if (op == ScalarOp::log) return expand_log;
    if (op == ScalarOp::tanh) return expand_tanh;
    if (op == ScalarOp::erf) return expand_erf;
  }
  return find_random_expansion(op);
}

}  // namespace recut::loop
