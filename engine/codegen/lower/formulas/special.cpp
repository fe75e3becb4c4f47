// Special functions: the gamma function's derivatives, the error function's family, in f64
// whatever the dtype. Branches are all computed and one is chosen; series have a fixed length.
#include <array>

#include "engine/codegen/lower/formula.h"
#include "engine/support/constants.h"

namespace recut::loop {
namespace {

// Bernoulli numbers B_2, B_4, …
constexpr std::array<double, 10> kBernoulli = {
    1.0 / 6,       -1.0 / 30, 1.0 / 42,      -1.0 / 30,     5.0 / 66,
    -691.0 / 2730, 7.0 / 6,   -3617.0 / 510, 43867.0 / 798, -174611.0 / 330};

ScalarExpr argument(const ElementContext& ctx, std::size_t parameter) {
  return ctx.operand(parameter, ctx.real_common()).to(DType::f64);
}

// Rounds to the nearest whole number, halves away from zero.
ScalarExpr round_away(const ScalarExpr& x) {
  const ScalarExpr whole = trunc(x);
  return select(abs(x - whole) >= 0.5, whole + copysign(x.like(1), x), whole);
}

// Gamma
// -----

// Euler and Maclaurin's summation (DLMF 2.10.1) from 10 on, where its series is short.
ScalarExpr digamma_of_positive(ScalarExpr x) {
  ScalarExpr sum = x.like(0);
  for (int step = 0; step < 10; ++step) {
    const ScalarExpr below = x < 10.0;
    sum = select(below, sum - 1.0 / x, sum);
    x = select(below, x + 1.0, x);
  }
  ScalarExpr power = x.like(1);
  ScalarExpr tail = log(x) - 0.5 / x;
  for (std::size_t j = 0; j < kBernoulli.size(); ++j) {
    power = power / (x * x);
    tail = tail - kBernoulli[j] / (2.0 * static_cast<double>(j) + 2) * power;
  }
  return sum + tail;
}

// Poles and signs as in ATen: -inf at +0, +inf at -0, NaN at negative integers. Negative arguments
// use reflection, with the tangent at the exact distance from the nearest pole.
ScalarExpr digamma(const ScalarExpr& x) {
  const ScalarExpr negative = x < 0.0;
  const ScalarExpr at = digamma_of_positive(select(negative, 1.0 - x, x));
  const ScalarExpr reflected = at - kPi / tan(kPi * (x - round_away(x)));
  const ScalarExpr below = select(x == trunc(x), x.like(std::nan("")), reflected);
  return select(x == 0.0, copysign(x.like(HUGE_VAL), -x), select(negative, below, at));
}

// For s > 1 and q > 0.
ScalarExpr zeta_of_positive(const ScalarExpr& s, const ScalarExpr& q) {
  constexpr int kTerms = 10;
  ScalarExpr sum = s.like(0);
  for (int k = 0; k < kTerms; ++k) sum = sum + pow(q + static_cast<double>(k), -s);
  const ScalarExpr w = q + static_cast<double>(kTerms);
  const ScalarExpr at_w = pow(w, -s);
  // B_2j / (2j)! times s (s + 1) … (s + 2j - 2) w^(1 - s - 2j)
  ScalarExpr factor = s * at_w / w / 2.0;
  ScalarExpr whole = sum + (at_w * w / (s - 1.0) + at_w / 2.0);
  for (std::size_t j = 0; j < kBernoulli.size(); ++j) {
    whole = whole + kBernoulli[j] * factor;
    const double n = 2.0 * static_cast<double>(j) + 2;
    factor = factor * ((s + n - 1.0) * (s + n) / ((n + 1) * (n + 2) * w * w));
  }
  return select(at_w == 0.0, sum, whole);
}

// An integer power may cross q = 0: the sum over all integers is periodic in q. Subtracting the
// terms below q leaves the sum from q up.
ScalarExpr zeta(const ScalarExpr& s, const ScalarExpr& q) {
  const ScalarExpr nan = s.like(std::nan(""));
  const ScalarExpr sign = select(rem(s, 2.0) == 0.0, s.like(1), s.like(-1));
  const ScalarExpr below = zeta_of_positive(s, ceil(q) - q) - zeta_of_positive(s, 1.0 - q);
  const ScalarExpr passed = zeta_of_positive(s, q - floor(q)) + sign * below;
  const ScalarExpr negative =
      select(q == floor(q), s.like(HUGE_VAL), select(s != floor(s), nan, passed));
  const ScalarExpr found = select(q > 0.0, zeta_of_positive(s, q), negative);
  const ScalarExpr known = select(s == 1.0, s.like(HUGE_VAL), select(s < 1.0, nan, found));
  return select(is_nan(s) | is_nan(q), nan, known);
}

// (-1)^(n + 1) n! zeta(n + 1, x); trigamma is reflected at 1/2, so that it is finite at none but
// the poles.
ScalarExpr polygamma(const ElementContext& ctx) {
  const std::int64_t n = ctx.call.integer("n");
  const ScalarExpr x = ctx.operand("self", ctx.real_common()).to(DType::f64);
  if (n == 0) return digamma(x);
  const auto order = static_cast<double>(n);
  const ScalarExpr direct =
      (n % 2 == 0 ? -1 : 1) * std::tgamma(order + 1) * zeta(x.like(order + 1), x);
  if (n != 1) return direct;
  const ScalarExpr sine = sin(kPi * (x - round_away(x)));
  const ScalarExpr reflected = kPi * kPi / (sine * sine) - zeta(x.like(2), 1.0 - x);
  return select(x < 0.5, select(x == floor(x), x.like(HUGE_VAL), reflected), direct);
}

std::optional<std::string> negative_order(const Call& call) {
  if (call.integer("n") < 0) return "negative orders";
  return std::nullopt;
}

// Sum of lgamma over x, x - 1/2, …: p of them.
ScalarExpr mvlgamma(const ElementContext& ctx) {
  const std::int64_t p = ctx.call.integer("p");
  const auto dimension = static_cast<double>(p);
  const ScalarExpr x = argument(ctx, 0);
  ScalarExpr sum = x.like(dimension * (dimension - 1) / 4 * std::log(kPi));
  for (std::int64_t j = 0; j < p; ++j) sum = sum + lgamma(x - static_cast<double>(j) / 2);
  return sum;
}

std::optional<std::string> many_dimensions(const Call& call) {
  if (call.integer("p") < 1 || call.integer("p") > 32) return "so many dimensions";
  return std::nullopt;
}

// Error function
// --------------

// z > 0 with erfc(z) = q, for 0 < q <= 1. Starts from Winitzki's approximation (2008) and takes
// Halley's steps, which triple the digits: erfc'' / erfc' = -2 z.
ScalarExpr inverse_erfc(const ScalarExpr& q) {
  constexpr double kA = 0.147;
  const ScalarExpr log_term = log(q * (2.0 - q));
  const ScalarExpr t = 2 / (kPi * kA) + log_term / 2.0;
  ScalarExpr z = sqrt(sqrt(t * t - log_term / kA) - t);
  for (int step = 0; step < 4; ++step) {
    const ScalarExpr slope = -2 / std::sqrt(kPi) * exp(-z * z);
    const ScalarExpr off = (erfc(z) - q) / slope;
    z = z - off / (1.0 + z * off);
  }
  return z;
}

// Near 0 from erf, as erfc cancels there.
ScalarExpr erfinv(const ScalarExpr& x) {
  const ScalarExpr size = abs(x);
  ScalarExpr z = x * std::sqrt(kPi) / 2.0;
  for (int step = 0; step < 5; ++step) {
    const ScalarExpr off = (erf(z) - x) * std::sqrt(kPi) / 2.0 * exp(z * z);
    z = z - off / (1.0 + z * off);
  }
  const ScalarExpr far = copysign(inverse_erfc(1.0 - size), x);
  const ScalarExpr inside = select(size > 0.5, far, z);
  const ScalarExpr known = select(size == 1.0, copysign(x.like(HUGE_VAL), x), inside);
  return select(size <= 1.0, known, x.like(std::nan("")));
}

ScalarExpr ndtri(const ScalarExpr& p) {
  const ScalarExpr low = -inverse_erfc(2.0 * p) / kInvSqrt2;
  const ScalarExpr high = inverse_erfc(2.0 * (1.0 - p)) / kInvSqrt2;
  const ScalarExpr middle = erfinv(2.0 * p - 1.0) / kInvSqrt2;
  const ScalarExpr inside = select(p < 0.25, low, select(p > 0.75, high, middle));
  const ScalarExpr known = select((p > 0.0) & (p < 1.0), inside, p.like(std::nan("")));
  return select(p == 0.0, p.like(-HUGE_VAL), select(p == 1.0, p.like(HUGE_VAL), known));
}

// exp(x^2) erfc(x): the product as long as erfc has digits, then the asymptotic series
// (DLMF 7.12.1).
ScalarExpr erfcx(const ScalarExpr& x) {
  const ScalarExpr w = 1.0 / (2.0 * x * x);
  const ScalarExpr series = 1.0 - w * (1.0 - 3.0 * w * (1.0 - 5.0 * w * (1.0 - 7.0 * w)));
  return select(x < 25.0, exp(x * x) * erfc(x), series / (x * std::sqrt(kPi)));
}

ScalarExpr log_ndtr(const ScalarExpr& x) {
  const ScalarExpr far = log(erfcx(-x * kInvSqrt2) / 2.0) - x * x / 2.0;
  return select(x < -1.0, far, log1p(-0.5 * erfc(x * kInvSqrt2)));
}

}  // namespace

void add_special_formulas(FormulaTable& table) {
  table.insert(table.end(),
               {{Op::digamma, wide([](const ScalarExpr& x) { return digamma(x); })},
                {Op::polygamma, polygamma, negative_order},
                {Op::mvlgamma, mvlgamma, many_dimensions},
                {Op::erfinv, wide([](const ScalarExpr& x) { return erfinv(x); })},
                {Op::special_ndtri, wide([](const ScalarExpr& x) { return ndtri(x); })},
                {Op::special_erfcx, wide([](const ScalarExpr& x) { return erfcx(x); })},
                {Op::special_log_ndtr, wide([](const ScalarExpr& x) { return log_ndtr(x); })}});
  for (const Op op :
       {Op::special_zeta, Op::special_zeta_self_scalar, Op::special_zeta_other_scalar})
    table.push_back(
        {op, [](const ElementContext& ctx) { return zeta(argument(ctx, 0), argument(ctx, 1)); }});
}

}  // namespace recut::loop
