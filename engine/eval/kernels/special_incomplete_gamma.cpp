// Incomplete gamma functions: power series below the mean, continued fraction above it, and Temme's
// uniform expansion where a is large (Temme 1979; Gautschi 1979 for where to change over).
#include <cmath>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/special.h"
#include "engine/support/constants.h"

namespace recut {
namespace {

using namespace elementwise;

constexpr double kLargeA = 10000;

// x^a e^-x / gamma(a + 1)
double prefactor(double a, double x) { return std::exp(a * std::log(x) - x - std::lgamma(a + 1)); }

// P(a, x) by DLMF 8.7.1: x / (a + 1) + x^2 / ((a + 1) (a + 2)) + …
double lower_by_series(double a, double x) {
  double term = 1;
  double sum = 1;
  for (double k = 1; term > sum * 1e-17; ++k) {
    term *= x / (a + k);
    sum += term;
  }
  return sum * prefactor(a, x);
}

// Q(a, x) by the continued fraction DLMF 8.9.2, evaluated from the front by Lentz's method (1976).
double upper_by_fraction(double a, double x) {
  double b = x + 1 - a;
  double c = 1e300;
  double d = 1 / b;
  double value = d;
  for (int k = 1; k < 10000; ++k) {
    const double numerator = -k * (k - a);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    value *= d * c;
    if (std::abs(d * c - 1) < 1e-16) break;
  }
  return value * a * prefactor(a, x);
}

// m - log(1 + m), without cancellation near 0.
double log_gap(double m) {
  if (std::abs(m) > 0.01) return m - std::log1p(m);
  double sum = 0;
  double power = -m;
  for (int k = 2; k < 12; ++k) {
    power *= -m;
    sum += power / k;
  }
  return sum;
}

struct IncompleteGammaPair {
  double lower;  // P
  double upper;  // Q
};

// For large a: half an erfc each, and the first term of the remainder, whose error is a^-2.
IncompleteGammaPair by_temme(double a, double x) {
  const double m = x / a - 1;
  const double eta = std::copysign(std::sqrt(2 * log_gap(m)), m);
  double c = 1 / m - 1 / eta;
  if (std::abs(eta) < 0.01)
    c = -1.0 / 3 + eta * (1.0 / 12 + eta * (-2.0 / 135 + eta * (1.0 / 864 + eta / 2835)));
  const double rest = std::exp(-a * eta * eta / 2) / std::sqrt(2 * kPi * a) * c;
  const double at = eta * std::sqrt(a / 2);
  return {0.5 * std::erfc(-at) - rest, 0.5 * std::erfc(at) + rest};
}

// At the edges as ATen has it.
IncompleteGammaPair incomplete_gamma(double a, double x) {
  constexpr IncompleteGammaPair kUndefined = {NAN, NAN};
  if (std::isnan(a) || std::isnan(x) || a < 0 || x < 0) return kUndefined;
  if (a == 0) return x > 0 ? IncompleteGammaPair{1, 0} : kUndefined;
  if (x == 0) return {0, 1};
  if (std::isinf(a)) return std::isinf(x) ? kUndefined : IncompleteGammaPair{0, 1};
  if (std::isinf(x)) return {1, 0};
  if (a > kLargeA) return by_temme(a, x);
  if (x < a + 1) {
    const double lower = lower_by_series(a, x);
    return {lower, 1 - lower};
  }
  const double upper = upper_by_fraction(a, x);
  return {1 - upper, upper};
}

}  // namespace

void add_incomplete_gamma_kernels(KernelTable& table) {
  table.add(Op::igamma,
            binary_real([](double a, double x) { return incomplete_gamma(a, x).lower; }));
  table.add(Op::igammac,
            binary_real([](double a, double x) { return incomplete_gamma(a, x).upper; }));
}

}  // namespace recut
