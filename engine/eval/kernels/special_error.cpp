// The error function's family: erf, its inverse, the normal distribution, entropy.
#include <cmath>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/special.h"
#include "engine/support/constants.h"

namespace recut {
namespace {

using namespace elementwise;

// z > 0 with erfc(z) = q, for 0 < q <= 1. Starts from Winitzki's approximation (2008, good to 2e-3
// everywhere) and takes Halley's steps, which triple the digits: erfc'' / erfc' = -2 z.
double inverse_erfc(double q) {
  constexpr double kA = 0.147;
  const double log_term = std::log(q * (2 - q));
  const double t = 2 / (kPi * kA) + log_term / 2;
  double z = std::sqrt(std::sqrt(t * t - log_term / kA) - t);
  for (int step = 0; step < 4; ++step) {
    const double slope = -2 / std::sqrt(kPi) * std::exp(-z * z);
    const double off = (std::erfc(z) - q) / slope;
    z -= off / (1 + z * off);
  }
  return z;
}

// The same from erf near 0, where erfc loses the digits.
double erfinv(double x) {
  const double size = std::abs(x);
  if (!(size <= 1)) return std::nan("");
  if (size == 1) return std::copysign(INFINITY, x);
  if (size > 0.5) return std::copysign(inverse_erfc(1 - size), x);
  double z = x * std::sqrt(kPi) / 2;
  for (int step = 0; step < 5; ++step) {
    const double off = (std::erf(z) - x) * std::sqrt(kPi) / 2 * std::exp(z * z);
    z -= off / (1 + z * off);
  }
  return z;
}

double ndtr(double x) { return 0.5 * std::erfc(-x * kInvSqrt2); }

double ndtri(double p) {
  if (p == 0) return -INFINITY;
  if (p == 1) return INFINITY;
  if (!(p > 0 && p < 1)) return std::nan("");
  if (p < 0.25) return -inverse_erfc(2 * p) / kInvSqrt2;
  if (p > 0.75) return inverse_erfc(2 * (1 - p)) / kInvSqrt2;
  return erfinv(2 * p - 1) / kInvSqrt2;
}

// exp(x^2) erfc(x): the product as long as erfc has digits, then the asymptotic series
// (DLMF 7.12.1).
double erfcx(double x) {
  if (x < 25) return std::exp(x * x) * std::erfc(x);
  const double w = 1 / (2 * x * x);
  return (1 - w * (1 - 3 * w * (1 - 5 * w * (1 - 7 * w)))) / (x * std::sqrt(kPi));
}

double log_ndtr(double x) {
  if (x < -1) return std::log(erfcx(-x * kInvSqrt2) / 2) - x * x / 2;
  return std::log1p(-0.5 * std::erfc(x * kInvSqrt2));
}

double entr(double x) {
  if (x > 0) return -x * std::log(x);
  if (x == 0) return 0;
  return std::isnan(x) ? x : -INFINITY;
}

}  // namespace

void add_error_function_kernels(KernelTable& table) {
  table.add(Op::erf, unary_real([](double x) { return std::erf(x); }));
  table.add(Op::erfc, unary_real([](double x) { return std::erfc(x); }));
  table.add(Op::erfinv, unary_real([](double x) { return erfinv(x); }));
  table.add(Op::special_erfcx, unary_real([](double x) { return erfcx(x); }));
  table.add(Op::special_ndtr, unary_real([](double x) { return ndtr(x); }));
  table.add(Op::special_ndtri, unary_real([](double x) { return ndtri(x); }));
  table.add(Op::special_log_ndtr, unary_real([](double x) { return log_ndtr(x); }));
  table.add(Op::special_entr, unary_real([](double x) { return entr(x); }));
}

}  // namespace recut
