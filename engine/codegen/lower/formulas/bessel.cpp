// Bessel functions of orders 0 and 1, modified ones, the spherical one and Airy's, in f64 whatever
// the dtype. Branches are all computed and one is chosen; series have fixed lengths, behind which
// terms change no sum, and add their terms in eval's order.
#include <cmath>

#include "engine/codegen/lower/formula.h"
#include "engine/support/constants.h"

namespace recut::loop {
namespace {

// Power series
// ------------

// J_n(x) is the sum of (-1)^k (x/2)^(2k + n) / (k! (k + n)!) (DLMF 10.2.2), I_n(x) the same without
// the signs (DLMF 10.25.2). In Y_n and K_n each term has the weight H_k + H_(k + n) (DLMF 10.8.1
// and 10.31.2).
struct BesselSeries {
  ScalarExpr plain;
  ScalarExpr weighted;
};

BesselSeries power_series(int n, const ScalarExpr& x, double sign, int terms) {
  const ScalarExpr step = sign * x * x / 4.0;
  ScalarExpr term = n == 0 ? x.like(1) : x / 2.0;
  BesselSeries sum{x.like(0), x.like(0)};
  double harmonic = 0;
  double harmonic_n = n == 0 ? 0 : 1;
  for (int k = 0; k < terms; ++k) {
    sum.plain = sum.plain + term;
    sum.weighted = sum.weighted + term * (harmonic + harmonic_n);
    term = term * (step / ((k + 1.0) * (k + 1.0 + n)));
    harmonic += 1 / (k + 1.0);
    harmonic_n += 1 / (k + 1.0 + n);
  }
  return sum;
}

// Functions of order 1 are odd.
ScalarExpr with_parity(int n, const ScalarExpr& x, const ScalarExpr& of_size) {
  return n == 1 ? select(x < 0.0, -of_size, of_size) : of_size;
}

// Asymptotic expansions
// ---------------------

// Even and odd terms with the signs + + - -, up to where they begin to grow.
struct Expansion {
  ScalarExpr even, odd;
};

template <class Next>
Expansion expand(const ScalarExpr& x, Next next) {
  constexpr int kTerms = 40;
  Expansion sum{x.like(0), x.like(0)};
  ScalarExpr term = x.like(1);
  for (int k = 0; k < kTerms; ++k) {
    ScalarExpr& part = k % 2 == 0 ? sum.even : sum.odd;
    part = k % 4 < 2 ? part + term : part - term;
    const ScalarExpr after = next(k, term);
    term = select(abs(after) > abs(term), x.like(0), after);
  }
  return sum;
}

// J and Y
// -------

constexpr double kLarge = 12;    // from here on Hankel's expansion
constexpr int kTermsBelow = 40;  // the next is below 1e-33 there

// P and Q of DLMF 10.17: J is sqrt(2 / (pi x)) (P cos - Q sin), Y has P sin + Q cos; their phase
// x - n pi / 2 - pi / 4 is found without subtracting from a large x.
struct Hankel {
  ScalarExpr p, q;
  ScalarExpr cosine, sine;
  ScalarExpr scale;
};

Hankel hankel(int n, const ScalarExpr& x) {
  const Expansion sum = expand(x, [&](int k, const ScalarExpr& term) {
    const double odd = 2 * k + 1;
    return term * (4.0 * n * n - odd * odd) / (8.0 * x * (k + 1.0));
  });
  const ScalarExpr c = cos(x) / std::sqrt(2.0);
  const ScalarExpr s = sin(x) / std::sqrt(2.0);
  return {sum.even, sum.odd, n == 0 ? c + s : s - c, n == 0 ? s - c : -c - s,
          sqrt(2.0 / (kPi * x))};
}

template <int n>
ScalarExpr bessel_j(const ScalarExpr& x) {
  const ScalarExpr size = abs(x);
  const ScalarExpr small = power_series(n, size, -1, kTermsBelow).plain;
  const Hankel h = hankel(n, size);
  const ScalarExpr large = h.scale * (h.p * h.cosine - h.q * h.sine);
  return with_parity(n, x, select(size < kLarge, small, large));
}

template <int n>
ScalarExpr bessel_y(const ScalarExpr& x) {
  const BesselSeries s = power_series(n, x, -1, kTermsBelow);
  ScalarExpr small = 2 / kPi * (log(x / 2.0) + kEulerGamma) * s.plain - s.weighted / kPi;
  if (n == 1) small = small - 2.0 / (kPi * x);
  const Hankel h = hankel(n, x);
  const ScalarExpr large = h.scale * (h.p * h.sine + h.q * h.cosine);
  const ScalarExpr positive = select(x < kLarge, small, large);
  const ScalarExpr known = select(x == 0.0, x.like(-HUGE_VAL), x.like(std::nan("")));
  return select(x > 0.0, positive, known);
}

ScalarExpr spherical_j0(const ScalarExpr& x) {
  return select(is_infinite(x), x.like(0), select(x == 0.0, x.like(1), sin(x) / x));
}

// I and K
// -------

constexpr double kLargeModified = 30;    // from here on Hankel's expansion
constexpr int kModifiedTermsBelow = 60;  // the next is below 1e-23 there, of a sum above 1e11

// exp(-x) I_n(x) for large x, DLMF 10.40.1.
ScalarExpr scaled_i_of_large(int n, const ScalarExpr& x) {
  ScalarExpr term = x.like(1);
  ScalarExpr sum = x.like(0);
  for (int k = 0; k < 30; ++k) {
    sum = sum + term;
    const double odd = 2 * k + 1;
    term = term * (-(4.0 * n * n - odd * odd) / (8.0 * x * (k + 1.0)));
  }
  return sum / sqrt(2 * kPi * x);
}

template <int n, bool scaled>
ScalarExpr modified_i(const ScalarExpr& x) {
  const ScalarExpr size = abs(x);
  const ScalarExpr series = power_series(n, size, 1, kModifiedTermsBelow).plain;
  const ScalarExpr small = scaled ? exp(-size) * series : series;
  const ScalarExpr guarded = scaled_i_of_large(n, size);
  // The product would be infinity times 0 at infinity.
  const ScalarExpr large = scaled ? guarded : select(is_infinite(size), size, exp(size) * guarded);
  return with_parity(n, x, select(size < kLargeModified, small, large));
}

// exp(x) K_order(x) for x >= 1: the integral of exp(-x (cosh t - 1)) cosh(order t) over t > 0
// (DLMF 10.32.9) by the trapezoidal rule, whose error falls exponentially with the step
// (Trefethen and Weideman 2014). From the 48th step on the integrand is below 1e-19.
ScalarExpr scaled_k(double order, const ScalarExpr& x) {
  constexpr int kSteps = 52;
  const ScalarExpr step = smaller(0.25 / sqrt(x), 0.1);
  ScalarExpr sum = x.like(0.5);
  for (int k = 1; k < kSteps; ++k) {
    const ScalarExpr t = step * static_cast<double>(k);
    const ScalarExpr half = sinh(t / 2.0);
    const ScalarExpr fall = exp(-2.0 * x * half * half);
    sum = sum + (order == 0 ? fall : fall * cosh(order * t));
  }
  return sum * step;
}

template <int n, bool scaled>
ScalarExpr modified_k(const ScalarExpr& x) {
  constexpr int kTermsBelowOne = 20;
  const BesselSeries s = power_series(n, x, 1, kTermsBelowOne);
  const ScalarExpr log_part = (log(x / 2.0) + kEulerGamma) * s.plain - s.weighted / 2.0;
  const ScalarExpr series = n == 0 ? -log_part : 1.0 / x + log_part;
  const ScalarExpr small = scaled ? series * exp(x) : series;
  const ScalarExpr integral = scaled_k(n, x);
  const ScalarExpr large = scaled ? integral : integral * exp(-x);
  const ScalarExpr positive = select(x < 1.0, small, large);
  const ScalarExpr finite = select(is_infinite(x), x.like(0), positive);
  const ScalarExpr known = select(x == 0.0, x.like(HUGE_VAL), x.like(std::nan("")));
  return select(x > 0.0, finite, known);
}

// Ai
// --

// Maclaurin's series, DLMF 9.4.1.
ScalarExpr airy_by_series(const ScalarExpr& x) {
  constexpr double kAtZero = 0.35502805388781723926;
  constexpr double kSlope = 0.25881940379280679840;
  const ScalarExpr cube = x * x * x;
  ScalarExpr f = x.like(1), g = x;
  ScalarExpr f_term = f, g_term = g;
  for (int k = 0; k < 60; ++k) {
    f_term = f_term * (cube / ((3.0 * k + 2) * (3.0 * k + 3)));
    g_term = g_term * (cube / ((3.0 * k + 3) * (3.0 * k + 4)));
    f = f + f_term;
    g = g + g_term;
  }
  return kAtZero * f - kSlope * g;
}

// Ai(-z) for large z, DLMF 9.7.9.
ScalarExpr airy_of_negative(const ScalarExpr& z) {
  const ScalarExpr zeta = 2.0 / 3 * z * sqrt(z);
  const Expansion sum = expand(z, [&](int k, const ScalarExpr& term) {
    const double six = 6.0 * (k + 1);
    const double odd = 216.0 * (k + 1) * (2 * k + 1);
    return term * (six - 5) * (six - 3) * (six - 1) / (odd * zeta);
  });
  const ScalarExpr phase = zeta - kPi / 4;
  return (cos(phase) * sum.even + sin(phase) * sum.odd) / (std::sqrt(kPi) * sqrt(sqrt(z)));
}

// For x above 2 from K of order 1/3, DLMF 9.6.2.
ScalarExpr airy_ai(const ScalarExpr& x) {
  const ScalarExpr zeta = 2.0 / 3 * x * sqrt(x);
  const ScalarExpr above = sqrt(x / 3.0) / kPi * exp(-zeta) * scaled_k(1.0 / 3, zeta);
  const ScalarExpr finite =
      select(x < -9.0, airy_of_negative(-x), select(x <= 2.0, airy_by_series(x), above));
  return select(abs(x) < HUGE_VAL, finite, x.like(std::nan("")));
}

}  // namespace

void add_bessel_formulas(FormulaTable& table) {
  const auto i0 = wide([](const ScalarExpr& x) { return modified_i<0, false>(x); });
  const auto i1 = wide([](const ScalarExpr& x) { return modified_i<1, false>(x); });
  table.insert(
      table.end(),
      {{Op::special_bessel_j0, wide([](const ScalarExpr& x) { return bessel_j<0>(x); })},
       {Op::special_bessel_j1, wide([](const ScalarExpr& x) { return bessel_j<1>(x); })},
       {Op::special_bessel_y0, wide([](const ScalarExpr& x) { return bessel_y<0>(x); })},
       {Op::special_bessel_y1, wide([](const ScalarExpr& x) { return bessel_y<1>(x); })},
       {Op::special_spherical_bessel_j0, wide([](const ScalarExpr& x) { return spherical_j0(x); })},
       {Op::special_airy_ai, wide([](const ScalarExpr& x) { return airy_ai(x); })},
       {Op::i0, i0},
       {Op::special_modified_bessel_i0, i0},
       {Op::special_i1, i1},
       {Op::special_modified_bessel_i1, i1},
       {Op::special_i0e, wide([](const ScalarExpr& x) { return modified_i<0, true>(x); })},
       {Op::special_i1e, wide([](const ScalarExpr& x) { return modified_i<1, true>(x); })},
       {Op::special_modified_bessel_k0,
        wide([](const ScalarExpr& x) { return modified_k<0, false>(x); })},
       {Op::special_modified_bessel_k1,
        wide([](const ScalarExpr& x) { return modified_k<1, false>(x); })},
       {Op::special_scaled_modified_bessel_k0,
        wide([](const ScalarExpr& x) { return modified_k<0, true>(x); })},
       {Op::special_scaled_modified_bessel_k1,
        wide([](const ScalarExpr& x) { return modified_k<1, true>(x); })}});
}

}  // namespace recut::loop
