// Modified Bessel functions of orders 0 and 1.
#include <algorithm>
#include <cmath>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/special.h"
#include "engine/support/constants.h"

namespace recut {
namespace {

using namespace elementwise;

// I_n(x) for x >= 0: the sum of (x/2)^(2k + n) / (k! (k + n)!), DLMF 10.25.2, whose terms are all
// positive; `weighted` has each term times H_k + H_(k + n), which K_n needs.
struct ModifiedBesselSeries {
  double plain = 0;
  double weighted = 0;
};

ModifiedBesselSeries modified_series(int n, double x) {
  double term = n == 0 ? 1 : x / 2;
  double harmonic = 0;
  double harmonic_n = n == 0 ? 0 : 1;
  ModifiedBesselSeries sum;
  for (int k = 0; k < 100 && term > sum.plain * 1e-18; ++k) {
    sum.plain += term;
    sum.weighted += term * (harmonic + harmonic_n);
    term *= x * x / 4 / ((k + 1.0) * (k + 1.0 + n));
    harmonic += 1 / (k + 1.0);
    harmonic_n += 1 / (k + 1.0 + n);
  }
  return sum;
}

// exp(-|x|) I_n(x): for large x by Hankel's expansion, DLMF 10.40.1, good to e^-60 from 30 on.
double scaled_i(int n, double x) {
  const double size = std::abs(x);
  const double sign = n == 1 && x < 0 ? -1 : 1;
  if (size < 30) return sign * std::exp(-size) * modified_series(n, size).plain;
  double term = 1;
  double sum = 0;
  for (int k = 0; k < 30; ++k) {
    sum += term;
    const double odd = 2 * k + 1;
    term *= -(4.0 * n * n - odd * odd) / (8 * size * (k + 1));
  }
  return sign * sum / std::sqrt(2 * kPi * size);
}

// The product would be infinity times 0 at infinity.
double modified_i(int n, double x) {
  if (std::isinf(x)) return n == 1 ? x : INFINITY;
  if (std::abs(x) < 30) {
    const double sign = n == 1 && x < 0 ? -1 : 1;
    return sign * modified_series(n, std::abs(x)).plain;
  }
  return std::exp(std::abs(x)) * scaled_i(n, x);
}

}  // namespace

// The integral of exp(-x (cosh t - 1)) cosh(nu t) over t > 0, DLMF 10.32.9, by the trapezoidal
// rule. For such an integrand, analytic in a strip and gone at both ends, its error falls
// exponentially with the step (Trefethen and Weideman 2014): here to below 1e-15.
double scaled_bessel_k(double nu, double x) {
  const double step = std::min(0.1, 0.25 / std::sqrt(x));
  double sum = 0.5;
  for (int k = 1; k < 2000; ++k) {
    const double t = k * step;
    const double half = std::sinh(t / 2);
    const double fall = 2 * x * half * half;  // x (cosh t - 1), without cancellation
    if (fall > 700) break;
    sum += std::exp(-fall) * std::cosh(nu * t);
  }
  return sum * step;
}

namespace {

// K_0 = -(log(x/2) + gamma) I_0 + the weighted sum / 2, DLMF 10.31.2; K_1 with the other signs and
// a pole.
double small_k(int n, double x) {
  const ModifiedBesselSeries s = modified_series(n, x);
  const double log_part = (std::log(x / 2) + kEulerGamma) * s.plain - s.weighted / 2;
  return n == 0 ? -log_part : 1 / x + log_part;
}

double modified_k(int n, double x, bool scaled) {
  if (x == 0) return INFINITY;
  if (!(x > 0)) return std::nan("");
  if (std::isinf(x)) return 0;
  if (x < 1) return small_k(n, x) * (scaled ? std::exp(x) : 1);
  return scaled_bessel_k(n, x) * (scaled ? 1 : std::exp(-x));
}

}  // namespace

void add_modified_bessel_kernels(KernelTable& table) {
  for (const Op op : {Op::i0, Op::special_modified_bessel_i0})
    table.add(op, unary_real([](double x) { return modified_i(0, x); }));
  for (const Op op : {Op::special_i1, Op::special_modified_bessel_i1})
    table.add(op, unary_real([](double x) { return modified_i(1, x); }));
  table.add(Op::special_i0e, unary_real([](double x) { return scaled_i(0, x); }));
  table.add(Op::special_i1e, unary_real([](double x) { return scaled_i(1, x); }));
  table.add(Op::special_modified_bessel_k0,
            unary_real([](double x) { return modified_k(0, x, false); }));
  table.add(Op::special_modified_bessel_k1,
            unary_real([](double x) { return modified_k(1, x, false); }));
  table.add(Op::special_scaled_modified_bessel_k0,
            unary_real([](double x) { return modified_k(0, x, true); }));
  table.add(Op::special_scaled_modified_bessel_k1,
            unary_real([](double x) { return modified_k(1, x, true); }));
}

}  // namespace recut
