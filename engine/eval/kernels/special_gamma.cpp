// The gamma function's logarithm and its derivatives, by Euler and Maclaurin's summation formula
// (DLMF 2.10.1) after moving the argument to where its series is short.
#include <array>
#include <cmath>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/special.h"
#include "engine/support/constants.h"

namespace recut {
namespace {

using namespace elementwise;

// Bernoulli numbers B_2, B_4, …
constexpr std::array<double, 10> kBernoulli = {
    1.0 / 6,       -1.0 / 30, 1.0 / 42,      -1.0 / 30,     5.0 / 66,
    -691.0 / 2730, 7.0 / 6,   -3617.0 / 510, 43867.0 / 798, -174611.0 / 330};

// Poles and signs as ATen has them: -inf at +0, +inf at -0, NaN at negative integers.
double digamma(double x) {
  if (x == 0) return std::copysign(INFINITY, -x);
  if (x < 0) {
    if (x == std::trunc(x)) return std::nan("");
    // Reflection; the tangent at the exact distance from the nearest pole.
    return digamma(1 - x) - kPi / std::tan(kPi * (x - std::round(x)));
  }
  double sum = 0;
  for (; x < 10; ++x) sum -= 1 / x;
  double power = 1;
  double tail = std::log(x) - 0.5 / x;
  for (std::size_t j = 0; j < kBernoulli.size(); ++j) {
    power /= x * x;
    tail -= kBernoulli[j] / (2.0 * static_cast<double>(j) + 2) * power;
  }
  return sum + tail;
}

// The sum for s > 1 and q > 0.
double zeta_of_positive(double s, double q) {
  constexpr int kTerms = 10;
  double sum = 0;
  for (int k = 0; k < kTerms; ++k) sum += std::pow(q + k, -s);
  const double w = q + kTerms;
  const double at_w = std::pow(w, -s);
  if (at_w == 0) return sum;
  sum += at_w * w / (s - 1) + at_w / 2;
  // B_2j / (2j)! times s (s + 1) … (s + 2j - 2) w^(1 - s - 2j)
  double factor = s * at_w / w / 2;
  for (std::size_t j = 0; j < kBernoulli.size(); ++j) {
    sum += kBernoulli[j] * factor;
    const double n = 2.0 * static_cast<double>(j) + 2;
    factor *= (s + n - 1) * (s + n) / ((n + 1) * (n + 2) * w * w);
  }
  return sum;
}

}  // namespace

double zeta(double s, double q) {
  if (std::isnan(s) || std::isnan(q)) return std::nan("");
  if (s == 1) return INFINITY;
  if (s < 1) return std::nan("");
  if (q > 0) return zeta_of_positive(s, q);
  if (q == std::floor(q)) return INFINITY;
  if (s != std::floor(s)) return std::nan("");
  // A whole power may pass q = 0. The sum over all integers is periodic in q; taken at q's
  // fraction, less the terms below q, it leaves the sum from q up. Both distances to an integer are
  // exact.
  const double above = q - std::floor(q);
  const double below = std::ceil(q) - q;
  const double sign = std::fmod(s, 2) == 0 ? 1 : -1;
  return zeta_of_positive(s, above) +
         sign * (zeta_of_positive(s, below) - zeta_of_positive(s, 1 - q));
}

namespace {

// (-1)^(n + 1) n! zeta(n + 1, x); trigamma is reflected at 1/2, so that it is finite at none but
// the poles.
double polygamma(std::int64_t n, double x) {
  if (n == 0) return digamma(x);
  if (n == 1 && x < 0.5) {
    if (x == std::floor(x)) return INFINITY;
    const double sine = std::sin(kPi * (x - std::round(x)));
    return kPi * kPi / (sine * sine) - zeta(2, 1 - x);
  }
  const auto order = static_cast<double>(n);
  return (n % 2 == 0 ? -1 : 1) * std::tgamma(order + 1) * zeta(order + 1, x);
}

Result<Done> polygamma_kernel(KernelContext& c) {
  const std::int64_t n = c.call.integer("n");
  if (n < 0) return error("polygamma has no negative orders");
  return reals(
      c, [=](double x) { return polygamma(n, x); }, "self");
}

// Sum of lgamma over x, x - 1/2, …: p of them.
Result<Done> mvlgamma(KernelContext& c) {
  const std::int64_t p = c.call.integer("p");
  if (p < 1 || p > 10000) return error("mvlgamma takes a dimension p of at least 1");
  const auto dimension = static_cast<double>(p);
  return reals(
      c,
      [=](double x) {
        double sum = dimension * (dimension - 1) / 4 * std::log(kPi);
        for (std::int64_t j = 0; j < p; ++j) sum += std::lgamma(x - static_cast<double>(j) / 2);
        return sum;
      },
      "self");
}

}  // namespace

void add_gamma_kernels(KernelTable& table) {
  table.add(Op::lgamma, unary_real([](double x) { return std::lgamma(x); }));
  table.add(Op::digamma, unary_real([](double x) { return digamma(x); }));
  table.add(Op::polygamma, polygamma_kernel);
  table.add(Op::mvlgamma, mvlgamma);
  for (const Op op :
       {Op::special_zeta, Op::special_zeta_self_scalar, Op::special_zeta_other_scalar})
    table.add(op, binary_real([](double s, double q) { return zeta(s, q); }));
}

}  // namespace recut
