// Bessel functions of orders 0 and 1, spherical ones, and Airy's: power series for small arguments,
// asymptotic expansions for large ones. At the switch, cancellation in the series and the
// expansion's smallest term both leave some ten digits.
#include <cmath>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/special.h"
#include "engine/support/constants.h"

namespace recut {
namespace {

using namespace elementwise;

constexpr double kSmall = 12;  // below: series

// J_n(x) = sum of (-1)^k (x/2)^(2k + n) / (k! (k + n)!), DLMF 10.2.2; and for Y_n the same sum with
// the weights H_k + H_(k + n), DLMF 10.8.1.
struct BesselSeries {
  double plain = 0;
  double weighted = 0;
};

BesselSeries bessel_series(int n, double x) {
  double term = n == 0 ? 1 : x / 2;
  double harmonic = 0;                 // H_k
  double harmonic_n = n == 0 ? 0 : 1;  // H_(k + n)
  BesselSeries sum;
  for (int k = 0; k < 60; ++k) {
    sum.plain += term;
    sum.weighted += term * (harmonic + harmonic_n);
    term *= -x * x / 4 / ((k + 1.0) * (k + 1.0 + n));
    harmonic += 1 / (k + 1.0);
    harmonic_n += 1 / (k + 1.0 + n);
  }
  return sum;
}

// Hankel's expansion, DLMF 10.17: J and Y are sqrt(2 / (pi x)) times (P cos - Q sin) and
// (P sin + Q cos) of the phase.
struct Hankel {
  double p = 0;
  double q = 0;
};

Hankel hankel_series(int n, double x) {
  Hankel h;
  double term = 1;
  for (int k = 0; k < 40; ++k) {
    double& part = k % 2 == 0 ? h.p : h.q;
    part += k % 4 < 2 ? term : -term;
    const double odd = 2 * k + 1;
    const double next = term * (4.0 * n * n - odd * odd) / (8 * x * (k + 1));
    if (std::abs(next) > std::abs(term)) break;  // from here on the series diverges
    term = next;
  }
  return h;
}

struct Wave {
  double cosine;
  double sine;
};

// Cosine and sine of the phase x - n pi / 2 - pi / 4, without subtracting from a large x.
Wave wave_of(int n, double x) {
  const double c = std::cos(x) / std::sqrt(2.0);
  const double s = std::sin(x) / std::sqrt(2.0);
  return n == 0 ? Wave{c + s, s - c} : Wave{s - c, -c - s};
}

double bessel_j(int n, double x) {
  const double size = std::abs(x);
  const double sign = n == 1 && x < 0 ? -1 : 1;
  if (size < kSmall) return sign * bessel_series(n, size).plain;
  const Hankel h = hankel_series(n, size);
  const Wave w = wave_of(n, size);
  return sign * std::sqrt(2 / (kPi * size)) * (h.p * w.cosine - h.q * w.sine);
}

double bessel_y(int n, double x) {
  if (x == 0) return -INFINITY;
  if (!(x > 0)) return std::nan("");
  if (x < kSmall) {
    const BesselSeries s = bessel_series(n, x);
    const double pole = n == 0 ? 0 : 2 / (kPi * x);
    return 2 / kPi * (std::log(x / 2) + kEulerGamma) * s.plain - s.weighted / kPi - pole;
  }
  const Hankel h = hankel_series(n, x);
  const Wave w = wave_of(n, x);
  return std::sqrt(2 / (kPi * x)) * (h.p * w.sine + h.q * w.cosine);
}

double spherical_j0(double x) {
  if (std::isinf(x)) return 0;
  return x == 0 ? 1 : std::sin(x) / x;
}

// Ai's Maclaurin series, DLMF 9.4.1.
double airy_by_series(double x) {
  constexpr double kAtZero = 0.35502805388781723926;
  constexpr double kSlope = 0.25881940379280679840;
  double f = 1, g = x;
  double f_term = 1, g_term = x;
  for (int k = 0; k < 60; ++k) {
    f_term *= x * x * x / ((3 * k + 2) * (3 * k + 3));
    g_term *= x * x * x / ((3 * k + 3) * (3 * k + 4));
    f += f_term;
    g += g_term;
  }
  return kAtZero * f - kSlope * g;
}

// Ai(-z) for large z, DLMF 9.7.9.
double airy_of_negative(double z) {
  const double zeta = 2.0 / 3 * z * std::sqrt(z);
  double even = 0, odd = 0;
  double term = 1;
  for (int k = 0; k < 40; ++k) {
    double& part = k % 2 == 0 ? even : odd;
    part += k % 4 < 2 ? term : -term;
    const double six = 6.0 * (k + 1);
    const double next =
        term * (six - 5) * (six - 3) * (six - 1) / (216.0 * (k + 1) * (2 * k + 1) * zeta);
    if (next > term) break;
    term = next;
  }
  const double phase = zeta - kPi / 4;
  return (std::cos(phase) * even + std::sin(phase) * odd) /
         (std::sqrt(kPi) * std::sqrt(std::sqrt(z)));
}

// For x above 2 from K of order 1/3, DLMF 9.6.2.
double airy_ai(double x) {
  if (!std::isfinite(x)) return std::nan("");
  if (x < -9) return airy_of_negative(-x);
  if (x <= 2) return airy_by_series(x);
  const double zeta = 2.0 / 3 * x * std::sqrt(x);
  return std::sqrt(x / 3) / kPi * std::exp(-zeta) * scaled_bessel_k(1.0 / 3, zeta);
}

}  // namespace

void add_bessel_kernels(KernelTable& table) {
  table.add(Op::special_bessel_j0, unary_real([](double x) { return bessel_j(0, x); }));
  table.add(Op::special_bessel_j1, unary_real([](double x) { return bessel_j(1, x); }));
  table.add(Op::special_bessel_y0, unary_real([](double x) { return bessel_y(0, x); }));
  table.add(Op::special_bessel_y1, unary_real([](double x) { return bessel_y(1, x); }));
  table.add(Op::special_spherical_bessel_j0, unary_real([](double x) { return spherical_j0(x); }));
  table.add(Op::special_airy_ai, unary_real([](double x) { return airy_ai(x); }));
}

}  // namespace recut
